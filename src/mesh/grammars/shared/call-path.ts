import { isObject } from '#bindings';
import type { Json, Metadata } from '#protocol';
import { MESH_NOTE } from '#protocol';
import type { CallPath } from '../grammar.ts';
import type { Properties } from '../sam/properties.ts';

/** For the metadata of a task: how its request came over the mesh, for agents that delegate further. */
export function callPathMetadata({ trail, userId, userConfig }: Properties): Metadata {
  const note: Record<string, Json> = { callDepth: trail.depth, userId };
  if (trail.agents.length > 0) note['callPath'] = [...trail.agents];
  if (userConfig !== undefined) note['userConfig'] = userConfig;
  return { [MESH_NOTE]: note };
}

/** What `callPathMetadata` wrote. Whoever did not come over the mesh begins. */
export function readCallPath(metadata: Metadata | undefined): CallPath {
  const { callDepth, callPath } = noteIn(metadata);
  return {
    depth: typeof callDepth === 'number' ? callDepth : 0,
    agents: Array.isArray(callPath) ? callPath.filter((name) => typeof name === 'string') : [],
  };
}

export function meshUserIn(metadata: Metadata | undefined): string | undefined {
  const { userId } = noteIn(metadata);
  return typeof userId === 'string' ? userId : undefined;
}

interface Note {
  readonly callDepth?: unknown;
  readonly callPath?: unknown;
  readonly userId?: unknown;
}

function noteIn(metadata: Metadata | undefined): Note {
  const note: unknown = metadata?.[MESH_NOTE];
  return isObject(note) ? note : {};
}
