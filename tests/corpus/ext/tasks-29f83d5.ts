import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  JSONRPCNotification,
  JSONRPCRequest,
  ListRootsRequest,
  ListRootsResult,
  NotificationParams,
  Result,
} from "@modelcontextprotocol/sdk/types.js";

/** @category `tasks` */
export type TaskStatus =
  | "working"
  | "input_required"
  | "completed"
  | "failed"
  | "cancelled";

/** @category `tasks` */
export interface Task {
  taskId: string;

  status: TaskStatus;

  statusMessage?: string;

  createdAt: string;

  lastUpdatedAt: string;

  /** @nullable */
  ttlMs: number | null;

  pollIntervalMs?: number;
}

/** @category `tasks` */
export interface WorkingTask extends Task {
  status: "working";
}

/** @category `tasks` */
export type InputRequest =
  | CreateMessageRequest
  | ListRootsRequest
  | ElicitRequest;

/** @category `tasks` */
export type InputResponse =
  | CreateMessageResult
  | ListRootsResult
  | ElicitResult;

/** @category `tasks` */
export interface InputRequests {
  [key: string]: InputRequest;
}

/** @category `tasks` */
export interface InputResponses {
  [key: string]: InputResponse;
}

/** @category `tasks` */
export interface InputRequiredTask extends Task {
  status: "input_required";

  inputRequests: InputRequests;
}

/** @category `tasks` */
export interface CompletedTask extends Task {
  status: "completed";

  result: { [key: string]: unknown };
}

/** @category `tasks` */
export interface FailedTask extends Task {
  status: "failed";

  error: { [key: string]: unknown };
}

/** @category `tasks` */
export interface CancelledTask extends Task {
  status: "cancelled";
}

/** @category `tasks` */
export type DetailedTask =
  | WorkingTask
  | InputRequiredTask
  | CompletedTask
  | FailedTask
  | CancelledTask;

/** @category `tasks` */
export type CreateTaskResult = Result & Task;

/** @category `tasks/get` */
export interface GetTaskRequest extends JSONRPCRequest {
  method: "tasks/get";
  params: {
    taskId: string;
  };
}

/** @category `tasks/get` */
export type GetTaskResult = Result & DetailedTask;

/** @category `tasks/update` */
export interface UpdateTaskRequest extends JSONRPCRequest {
  method: "tasks/update";
  params: {
    taskId: string;

    inputResponses: InputResponses;
  };
}

/** @category `tasks/update` */
export type UpdateTaskResult = Result;

/** @category `tasks/cancel` */
export interface CancelTaskRequest extends JSONRPCRequest {
  method: "tasks/cancel";
  params: {
    taskId: string;
  };
}

/** @category `tasks/cancel` */
export type CancelTaskResult = Result;

/** @category `notifications/tasks` */
export type TaskStatusNotificationParams = NotificationParams &
  DetailedTask & { [key: string]: unknown };

/** @category `notifications/tasks` */
export interface TaskStatusNotification extends JSONRPCNotification {
  method: "notifications/tasks";
  params: TaskStatusNotificationParams;
}

/** @category `subscriptions` */
export interface TaskSubscriptionNotifications {
  taskIds?: string[];
}

/** @category `subscriptions` */
export interface TaskSubscriptionAcknowledgedNotifications {
  taskIds?: string[];
}

/** @category `tasks` */
export type TasksExtensionCapability = Record<string, never>;
