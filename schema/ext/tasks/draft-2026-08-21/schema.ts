import type {
  Error as JSONRPCErrorObject,
  InputRequests,
  InputResponses,
  JSONRPCNotification,
  JSONRPCRequest,
  NotificationParams,
  Result,
} from "./spec.types.js";

/**
 * Where a task stands; the last three are final.
 * @category `tasks`
 */
export type TaskStatus =
  | "working"
  | "input_required"
  | "completed"
  | "failed"
  | "cancelled";

/**
 * A request that goes on after its answer, as a poll sees it.
 * @category `tasks`
 */
export interface Task {
  /** The key of the task. Whoever has it can see the task, so it cannot be guessed. */
  taskId: string;

  status: TaskStatus;

  /** What a person may be told of the status. */
  statusMessage?: string;

  /** When it began, in ISO 8601. */
  createdAt: string;

  /** When its status last changed, in ISO 8601. */
  lastUpdatedAt: string;

  /**
   * How long it is kept from its beginning, in milliseconds; null is without limit.
   * @format int
   * @nullable
   */
  ttlMs: number | null;

  /**
   * How long to wait between polls, in milliseconds.
   * @format int
   */
  pollIntervalMs?: number;
}

/**
 * A task that runs.
 * @category `tasks`
 */
export interface WorkingTask extends Task {
  status: "working";
}

/**
 * A task that waits for answers of the client.
 * @category `tasks`
 */
export interface InputRequiredTask extends Task {
  status: "input_required";

  /** What is asked, by keys that are never used again in the life of the task. */
  inputRequests: InputRequests;
}

/**
 * A task that is done.
 * @category `tasks`
 */
export interface CompletedTask extends Task {
  status: "completed";

  /** What the request would have returned had it not become a task. */
  result: { [key: string]: unknown };
}

/**
 * A task that ended with an error of the protocol.
 * @category `tasks`
 */
export interface FailedTask extends Task {
  status: "failed";

  /** The error that the request would have got. */
  error: JSONRPCErrorObject;
}

/**
 * A task that was stopped.
 * @category `tasks`
 */
export interface CancelledTask extends Task {
  status: "cancelled";
}

/**
 * A task with what its status brings.
 * @category `tasks`
 */
export type DetailedTask =
  | WorkingTask
  | InputRequiredTask
  | CompletedTask
  | FailedTask
  | CancelledTask;

/**
 * The answer of a request that has become a task.
 * @category `tasks`
 */
export type CreateTaskResult = Result &
  Task & {
    resultType: "task";
  };

/**
 * Asks how a task stands.
 * @category `tasks/get`
 */
export type GetTaskRequest = JSONRPCRequest & {
  method: "tasks/get";
  params: {
    /** The task that is asked about. */
    taskId: string;
  };
};

/**
 * How a task stands.
 * @category `tasks/get`
 */
export type GetTaskResult = Result &
  DetailedTask & {
    resultType: "complete";
  };

/**
 * Answers what a task asks.
 * @category `tasks/update`
 */
export type UpdateTaskRequest = JSONRPCRequest & {
  method: "tasks/update";
  params: {
    taskId: string;

    /** Answers by the keys of what was asked; unknown keys are ignored. */
    inputResponses: InputResponses;
  };
};

/**
 * The answers have arrived; the task takes them up later.
 * @category `tasks/update`
 */
export type UpdateTaskResult = Result & {
  resultType: "complete";
};

/**
 * Asks that a task stop.
 * @category `tasks/cancel`
 */
export type CancelTaskRequest = JSONRPCRequest & {
  method: "tasks/cancel";
  params: {
    taskId: string;
  };
};

/**
 * The wish has arrived; the task may still end otherwise.
 * @category `tasks/cancel`
 */
export type CancelTaskResult = Result & {
  resultType: "complete";
};

/**
 * A task whose status has changed.
 * @category `notifications/tasks`
 */
export type TaskStatusNotificationParams = NotificationParams &
  DetailedTask & { [key: string]: unknown };

/**
 * Tells a subscriber that the status of a task has changed.
 * @category `notifications/tasks`
 */
export type TaskStatusNotification = JSONRPCNotification & {
  method: "notifications/tasks";
  params: TaskStatusNotificationParams;
};

/**
 * What a subscription asks for: the changes of these tasks.
 * @category `subscriptions`
 */
export interface TaskSubscriptionNotifications {
  taskIds?: string[];
}

/**
 * What a subscription was granted.
 * @category `subscriptions`
 */
export interface TaskSubscriptionAcknowledgedNotifications {
  taskIds?: string[];
}

/**
 * The extension has no settings.
 * @category `tasks`
 */
export type TasksExtensionCapability = Record<string, never>;
