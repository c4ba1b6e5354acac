/**
 * The workflows room: graphs of agents, declared once and run durably. A workflow is published as an agent; its nodes' results are in its
 * task's log, so that it goes on after a crash where it was.
 *
 * ```ts
 * const agent = workflowAgent(readWorkflow(parse(yaml)), { findAgent: (name) => services.get(name) });
 * ```
 */
export { type WorkflowOptions, workflowAgent } from './agent.ts';
export { type Workflow, WorkflowError, type WorkflowNode } from './definition.ts';
export { readWorkflow } from './read.ts';
export type { FindAgent, NodeResult, Validate } from './running.ts';
