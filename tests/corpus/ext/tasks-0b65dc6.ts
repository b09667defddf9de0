import type {
  Cursor,
  JSONRPCNotification,
  JSONRPCRequest,
  NotificationParams,
  PaginatedRequest,
  PaginatedResult,
  ProgressToken,
  RequestId,
  RequestParams,
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
export interface TaskMetadata {
  ttl?: number;
}

/** @category `tasks` */
export interface RelatedTaskMetadata {
  taskId: string;
}

/** @category `tasks` */
export interface Task {
  taskId: string;

  status: TaskStatus;

  statusMessage?: string;

  createdAt: string;

  lastUpdatedAt: string;

  /** @nullable */
  ttl: number | null;

  pollInterval?: number;
}

/** @category `tasks` */
export interface CreateTaskResult extends Result {
  task: Task;
}

/** @category `tasks/get` */
export interface GetTaskRequest extends JSONRPCRequest {
  method: "tasks/get";
  params: {
    taskId: string;
  };
}

/** @category `tasks/get` */
export type GetTaskResult = Result & Task;

/** @category `tasks/result` */
export interface GetTaskPayloadRequest extends JSONRPCRequest {
  method: "tasks/result";
  params: {
    taskId: string;
  };
}

/** @category `tasks/result` */
export interface GetTaskPayloadResult extends Result {
  [key: string]: unknown;
}

/** @category `tasks/cancel` */
export interface CancelTaskRequest extends JSONRPCRequest {
  method: "tasks/cancel";
  params: {
    taskId: string;
  };
}

/** @category `tasks/cancel` */
export type CancelTaskResult = Result & Task;

/** @category `tasks/list` */
export interface ListTasksRequest extends PaginatedRequest {
  method: "tasks/list";
}

/** @category `tasks/list` */
export interface ListTasksResult extends PaginatedResult {
  tasks: Task[];
}

/** @category `notifications/tasks/status` */
export type TaskStatusNotificationParams = NotificationParams &
  Task & { [key: string]: unknown };

/** @category `notifications/tasks/status` */
export interface TaskStatusNotification extends JSONRPCNotification {
  method: "notifications/tasks/status";
  params: TaskStatusNotificationParams;
}

/** @category `tasks` */
export interface TaskAugmentedRequestParams extends RequestParams {
  task?: TaskMetadata;
}

/** @category `tasks` */
export interface TaskServerCapabilities {
  tasks?: {
    list?: Record<string, never>;
    cancel?: Record<string, never>;
    requests?: {
      tools?: {
        call?: Record<string, never>;
      };
    };
  };
}

/** @category `tasks` */
export interface TaskClientCapabilities {
  tasks?: {
    list?: Record<string, never>;
    cancel?: Record<string, never>;
    requests?: {
      sampling?: {
        createMessage?: Record<string, never>;
      };
      elicitation?: {
        create?: Record<string, never>;
      };
    };
  };
}

/** @category `tasks` */
export type ToolTaskSupport = "forbidden" | "optional" | "required";
