import type { IconName } from './ui/icon-paths.ts';

type Entry = readonly [to: string, label: string, icon: IconName, key: string];

/** Every page, with the letter that opens it after `g`. */
export const NAV: readonly Entry[] = [
  ['/home', 'Home', 'home', 'o'],
  ['/chat', 'Chat', 'chat', 'c'],
  ['/tasks', 'Tasks', 'tasks', 't'],
  ['/wire', 'Wire', 'wire', 'w'],
  ['/agents', 'Agents', 'agents', 'a'],
  ['/approvals', 'Approvals', 'approvals', 'i'],
  ['/push', 'Push', 'push', 'p'],
  ['/mesh', 'Mesh', 'mesh', 'm'],
  ['/replicas', 'Replicas', 'replicas', 'r'],
  ['/health', 'Health', 'health', 'h'],
  ['/tour', 'Tour', 'tour', 'u'],
];
