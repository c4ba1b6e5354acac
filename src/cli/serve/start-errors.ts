import { dirname, resolve, sep } from 'node:path';
import type { Settings } from '#server';
import { ConfigError } from '#server';
import { StoreError } from '../../engine/adapters/sqlite.ts';
import { dataFolder } from '../../server/adapters/data-folder.ts';
import type { RunningNode } from '../../server/adapters/running-nodes.ts';
import { runningNodes } from '../../server/adapters/running-nodes.ts';
import { authFolder } from '../../server/adapters/secret-files.ts';
import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import { CliError } from '../command.ts';
import { parleyWord } from './welcome.ts';

/** Turns an error of the start into one that says what happened and what to type instead. */
export function asServeFailure(thrown: unknown, found: readonly FoundAgent[], settings: Settings): unknown {
  if (thrown instanceof ConfigError) return new CliError(thrown.message, { exit: 2 });
  if (thrown instanceof StoreError) return ofStore(thrown, found, settings);
  if (isOfFiles(thrown)) return ofFolder(thrown, settings);
  const { code } = thrown as NodeJS.ErrnoException;
  const { host, port, socket } = settings;
  const place = socket === undefined ? `port ${port} of ${host}` : `the socket ${socket}`;
  const other = socket === undefined ? 'choose another with --port, or --port 0 for any' : 'choose another path with --socket';
  switch (code) {
    case 'EADDRINUSE':
      return new CliError(`${place} is in use${holderWords(settings)}`, { hint: other });
    case 'EACCES':
      return socket === undefined
        ? new CliError(`${place} can't be used: ports below 1024 need special rights`, { hint: other })
        : new CliError(`${place} can't be created: the folder ${dirname(socket)} is missing, or you may not write to it`, { hint: other });
    case 'ENOENT':
      return socket === undefined ? thrown : new CliError(`there is no folder ${dirname(socket)}`, { hint: other });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(`${host} is not an address of this machine`, {
        hint: 'choose one with --host; only this machine reaches 127.0.0.1',
      });
    default:
      return thrown;
  }
}

type FileError = NodeJS.ErrnoException & { readonly path: string };

/**
 * Whether the error is about a file. Errors about ports have no `path`, and errors about sockets have
 * theirs in `address`; the same error codes mean different things for each.
 */
function isOfFiles(thrown: unknown): thrown is FileError {
  const { code, path, syscall } = thrown as NodeJS.ErrnoException;
  return typeof path === 'string' && syscall !== 'listen' && syscall !== 'bind' && code !== undefined && code in WHY;
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'a part of that path is a file',
  EEXIST: 'a file of that name exists already',
  ENOENT: 'no folder can be created there',
};

/** The error for a folder that can't be written, with the flag that chooses another. */
function ofFolder(error: FileError, settings: Settings): CliError {
  const { code = '', path, message } = error;
  const why = `${WHY[code]} (${code})`;
  if (isWithin(resolve(dataFolder(settings.data)), path))
    return new CliError(`tasks can't be stored in ${path}: ${why}`, {
      hint: 'choose another folder with --data DIR, or keep tasks in memory only with --memory',
      cause: error,
    });
  if (isWithin(authFolder(settings.authFolder), path))
    return new CliError(`the credentials of this machine can't be stored in ${path}: ${why}`, {
      hint: 'choose another folder with --auth-folder DIR',
      cause: error,
    });
  return new CliError(message, { cause: error });
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** The error of a store that can't be opened. If a node of this user has it open, says which. */
function ofStore(error: StoreError, found: readonly FoundAgent[], settings: Settings): CliError {
  if (settings.store !== undefined) return new CliError(error.message, { cause: error });
  const folder = dataFolder(settings.data);
  if (error.fault === 'read-only')
    return new CliError(error.message, {
      hint: 'choose another folder with --data DIR, or keep tasks in memory only with --memory',
      cause: error,
    });
  if (error.fault !== 'locked') return new CliError(error.message, { cause: error });
  const node = runningNodes(authFolder(settings.authFolder)).find((one) => one.folder === resolve(folder));
  const parley = parleyWord();
  const names = found.map(({ agent }) => agent.card.name).join(', ');
  if (node === undefined)
    return new CliError(`another process uses the tasks in ${folder}`, {
      hint: 'stop that process, or store tasks elsewhere with --data DIR or --memory',
      cause: error,
    });
  if (!found.every(({ agent }) => node.agents.includes(agent.card.name)))
    return new CliError(
      `the node at ${node.url} (process ${node.pid}), which serves ${node.agents.join(', ')}, uses the tasks in ${folder}`,
      {
        hint: 'one node can serve several agents: stop it and name them all; or run a second node beside it: --data DIR --port 0, or --memory --port 0',
        cause: error,
      },
    );
  return new CliError(`${names} is served already, at ${node.url} (process ${node.pid})`, {
    hint: `talk to it: ${parley} ask ${hostOf(node)} "hello"; or serve another beside it: --memory --port 0, or --data DIR --port 0`,
    cause: error,
  });
}

/** Which node of this user listens on the port. Empty: another program does. */
function holderWords({ port, authFolder: folder }: Settings): string {
  const node = runningNodes(authFolder(folder)).find(({ url }) => new URL(url).port === String(port));
  return node === undefined ? '' : `: your node with ${node.agents.join(', ')} uses it (process ${node.pid})`;
}

/** The node's address in the short form that commands accept. */
function hostOf({ url }: RunningNode): string {
  return url.startsWith('https:') ? url : new URL(url).host.replace('127.0.0.1', 'localhost');
}
