/**
 * Graphs of agents that are declared in a file and run durably. A workflow is published as an agent.
 * The results of its nodes are in its task's log, so that it continues after a crash.
 *
 * ```ts
 * const agent = workflowAgent(readWorkflow(parse(yaml)), { findAgent: (name) => services.get(name) });
 * ```
 */
export { type WorkflowOptions, workflowAgent } from './agent.ts';
export { type Workflow, WorkflowError, type WorkflowNode } from './definition.ts';
export { readWorkflow } from './read.ts';
export type { FindWorkflowAgent, NodeResult, Validate } from './running.ts';
