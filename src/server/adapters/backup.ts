// Backups of a data folder, for the command line.
export { type BackupProgress, backUp } from './backup/back-up.ts';
export { refusePlaceOfBackups } from './backup/folder-place.ts';
export { type BackupSummary, readManifest, summaryOf } from './backup/manifest.ts';
export { restore, verifyBackup } from './backup/restore.ts';
export { fetchBackup } from './backup/s3-place.ts';
