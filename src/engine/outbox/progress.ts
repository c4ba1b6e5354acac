import { isTerminal } from '#protocol';
import type { Live } from '../live.ts';
import type { Progress } from './lane.ts';

/** The row runs ahead of the disk: that the task is finished counts when its end is durable. */
export function progressOf({ row, committed }: Live): Progress {
  return { last: committed, isFinished: committed === row.last && isTerminal(row.state) };
}
