import type { Json, JsonObject, Metadata } from '#protocol';
import { A2AError, isObject, MESH_NOTE } from '#protocol';
import type { CallPath } from '../grammar.ts';
import { CALL_DEPTH_MAX } from '../grammar.ts';

/** How a request came over the mesh. */
export interface MeshOrigin {
  readonly callPath: CallPath;
  readonly userId: string;
  readonly userConfig?: JsonObject;
}

/** Task metadata that says how the request came over the mesh. Agents that delegate further read it. */
export function originMetadata({ callPath, userId, userConfig }: MeshOrigin): Metadata {
  const note: Record<string, Json> = { callDepth: callPath.depth, userId };
  if (callPath.agents.length > 0) note['callPath'] = [...callPath.agents];
  if (userConfig !== undefined) note['userConfig'] = userConfig;
  return { [MESH_NOTE]: note };
}

/** Reads what `originMetadata` wrote. A task that did not come over the mesh has an empty path. */
export function readCallPath(metadata: Metadata | undefined): CallPath {
  const { callDepth, callPath } = noteIn(metadata);
  return {
    depth: typeof callDepth === 'number' ? callDepth : 0,
    agents: Array.isArray(callPath) ? callPath.filter((name) => typeof name === 'string') : [],
  };
}

/**
 * The user of the mesh on whose behalf a task runs. Undefined for tasks that did not come over the
 * mesh.
 */
export function meshUserIn(metadata: Metadata | undefined): string | undefined {
  const { userId } = noteIn(metadata);
  return typeof userId === 'string' ? userId : undefined;
}

interface MeshNote {
  readonly callDepth?: unknown;
  readonly callPath?: unknown;
  readonly userId?: unknown;
}

function noteIn(metadata: Metadata | undefined): MeshNote {
  const note: unknown = metadata?.[MESH_NOTE];
  return isObject(note) ? note : {};
}

/**
 * Refuses requests that were delegated too often, and loops: an agent that waits for this one would
 * wait for ever.
 */
export function checkCallPath({ depth, agents }: CallPath, agent: string): void {
  if (depth > CALL_DEPTH_MAX)
    throw new A2AError('INVALID_REQUEST', `this request was delegated ${depth} times; the maximum is ${CALL_DEPTH_MAX}`);
  if (agents.includes(agent))
    throw new A2AError('INVALID_REQUEST', `delegation loop: ${agent} is already waiting for ${agents.at(-1)}, which sent this request`);
}
