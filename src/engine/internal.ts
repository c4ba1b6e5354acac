// What the other rooms of this package may use of `engine`: its public door, and names that are no part of the published API.

export { directAnswersOf, eraseStored, exportedTask, namesOf, ownerData, tasksOf } from './admin/owner-data.ts';
export * from './index.ts';
export { ENGINE_LIMITS, type LimitDeclaration, limitDefaults } from './limits.ts';
export { taskKey } from './ports.ts';
export { spilledNames } from './read/blobs.ts';
export { allTasks, logOf, type TasksVerdict, verifyTasks } from './read/verify.ts';
