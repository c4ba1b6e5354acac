import { dirname } from 'node:path';
import type { Settings } from '#server';
import { ConfigError } from '#server';
import { StoreError } from '../engine/adapters/sqlite.ts';
import { authFolder } from '../server/adapters/node-secrets.ts';
import type { RunningNode } from '../server/adapters/node-served.ts';
import { runningNodes } from '../server/adapters/node-served.ts';
import type { FoundAgent } from '../server/adapters/node-settings.ts';
import { dataFolder } from '../server/adapters/node-settings.ts';
import { CliError } from './command.ts';
import { parleyWord } from './serve-words.ts';

/** Why it could not be served, and what to type instead. */
export function asServeFailure(thrown: unknown, found: readonly FoundAgent[], settings: Settings): unknown {
  if (thrown instanceof ConfigError) return new CliError(thrown.message, { exit: 2 });
  if (thrown instanceof StoreError) return ofStore(thrown, found, settings);
  const { code, message } = thrown as NodeJS.ErrnoException;
  const { host, port, socket } = settings;
  const place = socket === undefined ? `port ${port} of ${host}` : `the socket ${socket}`;
  const other = socket === undefined ? 'choose another with --port, or --port 0 for any' : 'choose another path with --socket';
  switch (code) {
    case 'EADDRINUSE':
      return new CliError(`${place} is taken${holderWords(settings)}`, { hint: other });
    case 'EACCES':
      return socket === undefined
        ? new CliError(`${place} may not be used: ports below 1024 are the system's`, { hint: other })
        : new CliError(`${place} can't be made: ${dirname(socket)} is not there, or not yours`, { hint: other });
    case 'ENOENT':
      return socket === undefined ? thrown : new CliError(`there is no folder ${dirname(socket)}`, { hint: other });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(`${host} is no address of this machine`, { hint: 'choose one with --host; 127.0.0.1 is for this machine alone' });
    default:
      return isOfFiles(code) ? new CliError(message, { hint: 'choose another folder with --data DIR, or --memory' }) : thrown;
  }
}

function isOfFiles(code: string | undefined): boolean {
  return code === 'EROFS' || code === 'ENOSPC' || code === 'ENOTDIR' || code === 'EEXIST' || code === 'EPERM';
}

function ofStore(error: StoreError, found: readonly FoundAgent[], settings: Settings): CliError {
  const folder = dataFolder(
    found.map(({ source }) => source),
    settings.data,
  );
  if (error.fault === 'read-only')
    return new CliError(error.message, { hint: 'choose another folder with --data DIR, or keep nothing with --memory', cause: error });
  if (error.fault !== 'locked') return new CliError(error.message, { cause: error });
  const node = runningNodes(authFolder(settings.authFolder)).find((one) => one.folder === folder);
  const parley = parleyWord();
  const names = found.map(({ agent }) => agent.card.name).join(', ');
  if (node === undefined)
    return new CliError(`another process serves ${names} from ${folder}`, {
      hint: 'stop that one, or keep tasks elsewhere: --data DIR, or --memory',
      cause: error,
    });
  return new CliError(`${names} is served already, at ${node.url} (process ${node.pid})`, {
    hint: `talk to it: ${parley} ask ${hostOf(node)} "hello"; or serve another beside it: --memory --port 0, or --data DIR --port 0`,
    cause: error,
  });
}

function holderWords({ port, authFolder: folder }: Settings): string {
  const node = runningNodes(authFolder(folder)).find(({ url }) => new URL(url).port === String(port));
  return node === undefined ? '' : `: a node of yours serves ${node.agents.join(', ')} there (process ${node.pid})`;
}

function hostOf({ url }: RunningNode): string {
  return url.startsWith('https:') ? url : new URL(url).host.replace('127.0.0.1', 'localhost');
}
