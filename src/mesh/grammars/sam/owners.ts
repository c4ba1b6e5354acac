import type { DialectId } from '#protocol';
import type { MeshContext } from '../grammar.ts';
import type { RecentMap } from '../shared/recent-map.ts';
import { createRecentMap } from '../shared/recent-map.ts';

/** Who sent the request that a task began with, and in which spelling. */
export interface SamTaskOwner {
  readonly userId: string;
  /** The client id of the request, and the name in its response topic. */
  readonly clients: readonly string[];
  readonly dialect: DialectId;
}

const TASKS_MAX = 10_000;
const known = new WeakMap<MeshContext, RecentMap<SamTaskOwner>>();

/**
 * Remembers the owner of a task. SAM's agents and workflows cancel with their client id only, and the
 * task belongs to a user (docs/dialects/sam.md). After a restart the first reply to the task brings it
 * back.
 */
export function rememberOwner(mesh: MeshContext, { agent, task }: OwnedTask, owner: SamTaskOwner): void {
  const owners = known.get(mesh) ?? createRecentMap<SamTaskOwner>(TASKS_MAX);
  known.set(mesh, owners);
  owners.set(keyOf(agent, task), owner);
}

/** The name of a task at its agent. */
export interface OwnedTask {
  readonly agent: string;
  readonly task: string;
}

/** Undefined for tasks that this process has not seen. */
export function findOwner(mesh: MeshContext, { agent, task }: OwnedTask): SamTaskOwner | undefined {
  return known.get(mesh)?.get(keyOf(agent, task));
}

function keyOf(agent: string, task: string): string {
  return JSON.stringify([agent, task]);
}
