import type { Json, JsonObject } from '#protocol';

/**
 * A workflow: a graph of nodes that call agents. Its files have the format of Solace Agent Mesh (YAML or JSON, in snake_case, camelCase or with
 * Argo's names). `readWorkflow` reads them.
 */
export interface Workflow {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly nodes: ReadonlyMap<string, WorkflowNode>;
  /** Templates over the nodes' outputs: the workflow's result. */
  readonly output: JsonObject;
  readonly onExit: ExitNodes;
  /** After the first failure no new node starts. Running nodes finish. */
  readonly failFast: boolean;
  readonly retry?: NodeRetry;
  readonly skills: readonly WorkflowSkill[];
  readonly nodeTimeoutMs: number;
}

export interface WorkflowSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

export interface ExitNodes {
  readonly always?: string;
  readonly onSuccess?: string;
  readonly onFailure?: string;
  readonly onCancel?: string;
}

interface NodeBase {
  readonly id: string;
  readonly dependsOn: readonly string[];
  /** The node is skipped when this condition is false. */
  readonly when?: string;
}

export interface AgentNode extends NodeBase {
  readonly type: 'agent';
  readonly agent: string;
  /** Default: the outputs of the nodes that it depends on, or the workflow's input. */
  readonly input?: JsonObject;
  readonly instruction?: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly retry?: NodeRetry;
  readonly timeoutMs?: number;
}

/** Another workflow as one node. */
export interface SubWorkflowNode extends Omit<AgentNode, 'type'> {
  readonly type: 'workflow';
}

/** Runs the node of the first case whose condition is true. The nodes of the other cases are skipped. */
export interface SwitchNode extends NodeBase {
  readonly type: 'switch';
  readonly cases: readonly { readonly when: string; readonly node: string }[];
  readonly otherwise?: string;
}

/** Runs one node for each item, concurrently. */
export interface MapNode extends NodeBase {
  readonly type: 'map';
  /** An array, or a template for one. */
  readonly items: Json;
  readonly node: string;
  readonly itemsMax: number;
  readonly concurrency: number;
}

/** Repeats one node while the condition is true, at least once. */
export interface LoopNode extends NodeBase {
  readonly type: 'loop';
  readonly node: string;
  readonly condition: string;
  readonly iterationsMax: number;
  readonly delayMs: number;
}

export type WorkflowNode = AgentNode | SubWorkflowNode | SwitchNode | MapNode | LoopNode;
export type CallingNode = AgentNode | SubWorkflowNode;

export interface NodeRetry {
  /** The number of attempts after the first. */
  readonly limit: number;
  /** `OnFailure`: the agent's task failed. `OnError`: the agent is unreachable, or did not respond in time. */
  readonly policy: 'Always' | 'OnFailure' | 'OnError';
  readonly backoffMs: number;
  readonly factor: number;
  readonly backoffMsMax: number;
}

/** A problem in a workflow's definition, with its path. */
export class WorkflowError extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.path = path;
  }
}
