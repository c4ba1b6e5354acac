// What the other rooms of this package may use of `server`: its public door, and names that are no part of the published API.

export { SETTINGS, type Setting, type SettingGroup } from './config/settings.ts';
export { suggest } from './config/suggest.ts';
export * from './index.ts';
