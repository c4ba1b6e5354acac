import type { HttpRequest } from '#bindings';
import type { AdminBackups, AdminService } from '#protocol';
import { A2AError } from '#protocol';
import { type MethodHandlers, objectIn, shown } from './responses.ts';

/** `/backup`: starts a backup, and tells how far it is. Undefined for another path. */
export function backupRoutes(admin: AdminService, path: string, request: HttpRequest): MethodHandlers | undefined {
  if (path !== '/backup') return undefined;
  return {
    GET: async () => shown({ backup: backupsOf(admin).last() ?? null }),
    POST: async () => {
      const backups = backupsOf(admin);
      const { folder } = await objectIn(request, 'the request');
      if (typeof folder !== 'string' || folder === '') throw new A2AError('INVALID_PARAMS', 'folder must be a path', { field: 'folder' });
      return shown({ backup: backups.start(folder) }, 202);
    },
  };
}

function backupsOf({ backups }: AdminService): AdminBackups {
  if (backups !== undefined) return backups;
  throw new A2AError('UNSUPPORTED_OPERATION', 'this node keeps its tasks in memory, so there is nothing to back up');
}
