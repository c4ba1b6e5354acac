import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { objectIn, textAt } from '../process/json-line.ts';

/** The agent's own session for a caller's conversation. */
export interface Session {
  readonly id: string;
  /**
   * Its folder. Agents keep sessions per folder, and one of another folder would be about other files.
   */
  readonly folder: string;
  readonly adapter: string;
  /** Whether the agent can resume it. */
  readonly isResumable: boolean;
}

/**
 * The owner of the conversation. Context ids are chosen by callers, so two callers may have the same
 * one.
 */
export interface Holder {
  readonly contextId: string;
  readonly principal: string;
}

/** Stores the sessions of coding agents by conversation. */
export interface Sessions {
  get(holder: Holder): Promise<Session | undefined>;
  /** Resolves when the session is on disk. */
  set(holder: Holder, session: Session): Promise<void>;
  delete(holder: Holder): Promise<void>;
}

/** One small file per session, replaced atomically: a crash leaves the old one or the new one. */
export function openSessions(folder: string): Sessions {
  return {
    get: async (holder) => {
      const stored = objectIn(await readFile(fileOf(folder, holder), 'utf8').catch(() => ''));
      const [id, where, adapter] = [textAt(stored, 'id'), textAt(stored, 'folder'), textAt(stored, 'adapter')];
      if (id === undefined || where === undefined || adapter === undefined) return undefined;
      return { id, folder: where, adapter, isResumable: stored?.['isResumable'] === true };
    },
    set: async (holder, session) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = fileOf(folder, holder);
      const file = await open(`${path}.new`, 'w', 0o600);
      try {
        await file.writeFile(JSON.stringify(session));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    },
    delete: (holder) => rm(fileOf(folder, holder), { force: true }),
  };
}

function fileOf(folder: string, { contextId, principal }: Holder): string {
  const name = createHash('sha256')
    .update(JSON.stringify([principal, contextId]))
    .digest('hex');
  return join(folder, `${name}.json`);
}
