import { join } from 'node:path';
import type { AuditLog } from '../../audit/audit.ts';
import type { Settings } from '../../config/settings.ts';
import type { Log } from '../../observability/log.ts';
import { openAudit } from '../audit-file.ts';
import { addressOf } from '../data-folder.ts';

/** The audit log of a node: in its database if it shares one, else beside its tasks. */
export async function openConfiguredAudit(folder: string, settings: Settings, log: Log): Promise<AuditLog> {
  const { auditFileBytesMax: bytesMax, auditFileMsMax: msMax, auditKeepMs: keepMs, store } = settings;
  const onError = (cause: unknown): void => {
    if (cause === undefined) log.info('the audit log can be written again');
    else log.error('the audit log can’t be written; administration is refused until it can', cause);
  };
  if (store === undefined) return await openAudit(join(folder, 'audit.jsonl'), { bytesMax, msMax, keepMs, onError });
  const [{ openSharedAudit }, { openAuditTable }] = await Promise.all([
    import('../../../engine/adapters/postgres.ts'),
    import('../audit-table.ts'),
  ]);
  const shared = await openSharedAudit(store);
  const onPruneFailed = (cause: unknown): void =>
    log.error('old audit records could not be deleted; the next attempt is in an hour', cause);
  try {
    return await openAuditTable(shared, { node: addressOf(settings), keepMs, onError, onPruneFailed });
  } catch (thrown) {
    await shared.close();
    throw thrown;
  }
}
