import type { IconName } from './ui/icons.tsx';

/** Every page, with the letter that opens it after `g`. */
export const NAV: readonly (readonly [to: string, label: string, icon: IconName, key: string])[] = [
  ['/home', 'Home', 'home', 'o'],
  ['/chat', 'Chat', 'chat', 'c'],
  ['/tasks', 'Tasks', 'tasks', 't'],
  ['/wire', 'Wire', 'wire', 'w'],
  ['/agents', 'Agents', 'agents', 'a'],
  ['/approvals', 'Approvals', 'approvals', 'i'],
  ['/push', 'Push', 'push', 'p'],
  ['/mesh', 'Mesh', 'mesh', 'm'],
  ['/health', 'Health', 'health', 'h'],
  ['/tour', 'Tour', 'tour', 'u'],
];
