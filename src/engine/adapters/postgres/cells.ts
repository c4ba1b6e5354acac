import { crc32 } from 'node:zlib';
import type { ContextFilter } from '../../ports.ts';

/** An id that we made in a store with several owners ends with its cell. */
const WITH_CELL = /~([0-9a-z]{1,4})$/;

/** The cell of a task: that of its context. An id with a cell that the store does not have counts as any other. */
export function cellOf({ owner, agent, contextId }: ContextFilter, count: number): number {
  const named = WITH_CELL.exec(contextId)?.[1];
  const cell = named === undefined ? count : Number.parseInt(named, 36);
  return cell < count ? cell : crc32(JSON.stringify([owner.tenant, owner.principal, agent, contextId])) % count;
}

/** The id with its cell at the end. */
export function idIn(cell: number, id: string): string {
  return `${id}~${cell.toString(36)}`;
}
