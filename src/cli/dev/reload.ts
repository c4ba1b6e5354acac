import { relative } from 'node:path';
import type { AgentLike, Handler, Log, Settings } from '#server';
import { pathName } from '#server';
import { defaultExportOf } from '../../server/adapters/module-file.ts';
import type { FoundAgent } from '../../server/adapters/serve-configured.ts';
import { findAgent } from '../serve/find-agent.ts';
import type { FindAgent } from '../serve.ts';
import type { FileWatcher } from './watch-files.ts';
import { watchFiles } from './watch-files.ts';

/** Loads agents from files, and again when the files change. */
export interface Reloader {
  /** Finds an agent, and watches the files that it consists of. */
  readonly find: FindAgent;
  /** Replaces agents on the node from now on. */
  begin(node: Reloaded): void;
  /** Loads every agent again that came from a file. */
  reloadAll(): void;
  close(): void;
}

/** The node whose agents are replaced. */
interface Reloaded {
  readonly handler: Handler;
  readonly log: Log;
}

/** One AGENT of the command line that is a file. */
interface LoadedFile {
  readonly given: string;
  readonly settings: Settings;
  readonly files: Set<string>;
  /** Its name on the node. */
  name: string;
}

/** A file that can't be loaded is reported, and its agent stays as it was. */
export function createReloader(): Reloader {
  const loaded = new Map<string, LoadedFile>();
  let generation = 0;
  let node: Reloaded | undefined;
  let watcher: FileWatcher | undefined;
  let queue = Promise.resolve();
  const load = async (file: LoadedFile): Promise<FoundAgent> =>
    await findAgent(file.given, file.settings, (path) => {
      generation += 1;
      const onFile = (each: string): void => {
        file.files.add(each);
        watcher?.add(each);
      };
      return defaultExportOf(path, { generation, onFile });
    });
  const reload = async (file: LoadedFile, why: string): Promise<void> => {
    if (node === undefined) return;
    try {
      const { agent } = await load(file);
      if (!runsHere(agent)) throw new Error('an agent with a service of its own needs a restart');
      const name = pathName(agent.card.name);
      node.handler.add(name, agent, file.name);
      node.log.info(`${why}: ${name} is loaded again${name === file.name ? '' : `, and is no longer called ${file.name}`}`);
      file.name = name;
    } catch (thrown) {
      node.log.error(`${why} and can't be loaded; ${file.name} stays as it was`, placed(thrown));
      watcher?.acceptAny();
    }
  };
  const enqueue = (files: readonly LoadedFile[], why: string): void => {
    for (const file of files) queue = queue.then(() => reload(file, why));
  };
  watcher = watchFiles((paths) => {
    const concerned = [...loaded.values()].filter(({ files }) => paths.some((path) => files.has(path)));
    const names = paths.map((path) => relative(process.cwd(), path)).join(', ');
    // A file that no agent has loaded: one of them is broken because it was missing.
    enqueue(concerned.length > 0 ? concerned : [...loaded.values()], `${names} changed`);
  });
  return {
    find: async (given, settings) => {
      if (typeof given !== 'string') return await findAgent(given, settings);
      const file: LoadedFile = { given, settings, files: new Set(), name: '' };
      const found = await load(file);
      file.name = pathName(found.agent.card.name);
      if (file.files.size > 0) loaded.set(given, file);
      return found;
    },
    begin: (begun) => {
      node = begun;
    },
    reloadAll: () => enqueue([...loaded.values()], 'on request'),
    close: () => watcher?.close(),
  };
}

/** The error itself if it names the place in the file. Otherwise the reason with its remedy. */
function placed(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !(thrown.cause instanceof Error)) return thrown;
  return 'code' in thrown.cause && /NOT_FOUND|EXTENSION/.test(String(thrown.cause.code)) ? thrown.message : thrown.cause;
}

function runsHere(agent: AgentLike): agent is Exclude<AgentLike, { readonly service: unknown }> {
  return !('service' in agent);
}
