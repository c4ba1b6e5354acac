// Backups of a data folder, for the command line.
export { type BackupProgress, backUp } from './backup/back-up.ts';
export { restore, verifyBackup } from './backup/restore.ts';
