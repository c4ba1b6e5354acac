import type { Json, JsonObject } from '#protocol';

/**
 * A workflow: a graph of nodes that call agents, declared once and run the same way every time. It is written as Solace Agent Mesh writes
 * it (YAML or JSON, snake_case, camelCase or Argo's names); `readWorkflow` makes this of it.
 */
export interface Workflow {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly nodes: ReadonlyMap<string, WorkflowNode>;
  /** Templates over the nodes' outputs: the answer. */
  readonly output: JsonObject;
  readonly onExit: ExitNodes;
  /** After the first failure nothing new is begun; what runs comes to its end. */
  readonly failFast: boolean;
  readonly retry?: Retry;
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
  /** A condition; the node is skipped when it does not hold. */
  readonly when?: string;
}

export interface AgentNode extends NodeBase {
  readonly type: 'agent';
  readonly agent: string;
  /** Absent: the workflow's input, or the output of what the node depends on. */
  readonly input?: JsonObject;
  readonly instruction?: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly retry?: Retry;
  readonly timeoutMs?: number;
}

/** Another workflow, by its name, as one node. */
export interface SubWorkflowNode extends Omit<AgentNode, 'type'> {
  readonly type: 'workflow';
}

/** The first case that holds has its node run; the nodes of the others are skipped. */
export interface SwitchNode extends NodeBase {
  readonly type: 'switch';
  readonly cases: readonly { readonly when: string; readonly node: string }[];
  readonly otherwise?: string;
}

/** One node for each item, side by side. */
export interface MapNode extends NodeBase {
  readonly type: 'map';
  /** A template that gives an array, or the array itself. */
  readonly items: Json;
  readonly node: string;
  readonly itemsMax: number;
  readonly concurrency: number;
}

/** One node again and again, while the condition holds; at least once. */
export interface LoopNode extends NodeBase {
  readonly type: 'loop';
  readonly node: string;
  readonly condition: string;
  readonly iterationsMax: number;
  readonly delayMs: number;
}

export type WorkflowNode = AgentNode | SubWorkflowNode | SwitchNode | MapNode | LoopNode;
export type CallingNode = AgentNode | SubWorkflowNode;

export interface Retry {
  /** Further attempts after the first. */
  readonly limit: number;
  /** `OnFailure`: the agent said that it failed. `OnError`: it could not be asked, or did not answer in time. */
  readonly policy: 'Always' | 'OnFailure' | 'OnError';
  readonly backoffMs: number;
  readonly factor: number;
  readonly backoffMsMax: number;
}

/** What is wrong with a workflow's text, and where. */
export class WorkflowError extends Error {
  readonly path: string;

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.path = path;
  }
}
