/** The lines of each icon, on a square of 20. */
export const ICON_PATHS = {
  home: 'M3 9.5 10 4l7 5.5M5 8.5V16h10V8.5',
  tour: 'M4 16V4l6 3 6-3v9l-6 3-3-1.5M10 7v9',
  chat: 'M4 4h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H9l-4 4v-4H4a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z',
  tasks: 'M4 5h2M4 10h2M4 15h2M9 5h7M9 10h7M9 15h7',
  wire: 'M3 7h11l-3-3M17 13H6l3 3',
  agents: 'M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c0-3 2.5-5 6-5s6 2 6 5',
  approvals: 'M4 10l4 4 8-9',
  push: 'M10 4a4 4 0 0 0-4 4c0 4-2 5-2 6h12c0-1-2-2-2-6a4 4 0 0 0-4-4zM8 17h4',
  mesh: 'M5 6a2 2 0 1 0 0-.1M15 6a2 2 0 1 0 0-.1M10 15a2 2 0 1 0 0-.1M7 6h6M6 8l3 5M14 8l-3 5',
  replicas: 'M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.1M7 13.5h.1',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  health: 'M2 11h4l2-5 4 9 2-4h4',
} as const;

/** Names of the icons. */
export type IconName = keyof typeof ICON_PATHS;
