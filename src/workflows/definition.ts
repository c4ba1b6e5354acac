import type { Json, JsonObject } from '#protocol';

/**
 * A workflow: a graph of nodes that call agents. Its files have the format of Solace Agent Mesh (YAML
 * or JSON, in snake_case, camelCase or with Argo's names). `readWorkflow` reads them.
 */
export interface Workflow {
  /** Name of the workflow, and of the agent that runs it. */
  readonly name: string;
  /** What it does. It becomes the description of the agent's card. */
  readonly description: string;
  /** Version of the workflow, for the agent's card. */
  readonly version: string;
  /** JSON Schema of the input. */
  readonly inputSchema?: JsonObject;
  /** JSON Schema of the result. */
  readonly outputSchema?: JsonObject;
  /** The nodes by id. */
  readonly nodes: ReadonlyMap<string, WorkflowNode>;
  /** Templates over the nodes' outputs: the workflow's result. */
  readonly output: JsonObject;
  /** Nodes that run after the end. */
  readonly onExit: ExitNodes;
  /** After the first failure no new node starts. Running nodes finish. */
  readonly failFast: boolean;
  /** For nodes without a retry policy of their own. */
  readonly retry?: NodeRetry;
  /** Skills on the card. Default: one for the whole workflow. */
  readonly skills: readonly WorkflowSkill[];
  /** For nodes without a timeout of their own. Default 5 minutes. */
  readonly nodeTimeoutMs: number;
}

/** A skill on the card of the workflow. */
export interface WorkflowSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** Nodes that run after the others, by outcome. They do not change the outcome. */
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

/** Calls an agent. */
export interface AgentNode extends NodeBase {
  readonly type: 'agent';
  /** Name of the agent; `findAgent` looks it up. */
  readonly agent: string;
  /** Default: the outputs of the nodes that it depends on, or the workflow's input. */
  readonly input?: JsonObject;
  /** Text for the agent, sent with the input. */
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

/**
 * Runs the node of the first case whose condition is true. The nodes of the other cases are skipped.
 */
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
  /** More items are an error. Default 100. */
  readonly itemsMax: number;
  readonly concurrency: number;
}

/** Repeats one node while the condition is true, at least once. */
export interface LoopNode extends NodeBase {
  readonly type: 'loop';
  readonly node: string;
  readonly condition: string;
  /** The loop ends after this many repetitions. Default 100. */
  readonly iterationsMax: number;
  readonly delayMs: number;
}

/** A node of the graph. */
export type WorkflowNode = AgentNode | SubWorkflowNode | SwitchNode | MapNode | LoopNode;
/** A node that calls an agent or another workflow. */
export type CallingNode = AgentNode | SubWorkflowNode;

/** How a failed node is repeated. */
export interface NodeRetry {
  /** The number of attempts after the first. */
  readonly limit: number;
  /**
   * `OnFailure`: the agent's task failed. `OnError`: the agent is unreachable, or did not respond in
   * time.
   */
  readonly policy: 'Always' | 'OnFailure' | 'OnError';
  /** Delay before the first repetition, in milliseconds. */
  readonly backoffMs: number;
  /** Each delay is this many times as long as the one before it. */
  readonly factor: number;
  readonly backoffMsMax: number;
}

/** A problem in a workflow's definition, with its path. */
export class WorkflowError extends Error {
  /** Where the problem is, for example `nodes[2].cases`. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.path = path;
  }
}
