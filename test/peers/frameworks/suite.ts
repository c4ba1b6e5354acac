import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterAll } from 'vitest';
import { run } from '../../cli/run.ts';
import { startFakeModel } from '../../support/fake-model/server.ts';
import type { Conversation } from '../conversations.ts';
import { driverTalk } from '../driver.ts';
import { describeClient, describeLong, describeServer } from '../suite.ts';
import type { Talk } from '../talk.ts';
import { MODEL_CONVERSATIONS, MODEL_SLOW } from './conversations.ts';
import type { FrameworkName } from './packages.ts';
import { frameworkPython } from './packages.ts';

export interface Framework {
  /** The folder in test/peers. */
  readonly name: FrameworkName;
  /** As docs/interop.md names it. */
  readonly title: string;
  /** The package whose version the row names. */
  readonly pypi: string;
  /** What its client can't do, with the reason. Absent: it has no client. */
  readonly client?: {
    readonly except: Readonly<Record<string, string>>;
    readonly also?: readonly Conversation[];
    readonly traits?: Partial<Talk>;
    /** Flags that our node needs for this client. */
    readonly serveFlags?: readonly string[];
  };
  /** What its server can't do. */
  readonly server: { readonly except: Readonly<Record<string, string>> };
}

/** No program of a framework reports to anybody. `npm run e2e:peers` also takes the network away. */
const QUIET = {
  OTEL_SDK_DISABLED: 'true',
  DO_NOT_TRACK: '1',
  CREWAI_DISABLE_TELEMETRY: 'true',
  CREWAI_DISABLE_TRACKING: 'true',
  CREWAI_TRACING_ENABLED: 'false',
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  LANGGRAPH_CLI_NO_ANALYTICS: '1',
  LITELLM_TELEMETRY: 'False',
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  ANONYMIZED_TELEMETRY: 'False',
  NO_PROXY: '127.0.0.1,localhost',
  PYTHONUNBUFFERED: '1',
};

/** Their client with our agent, and our client, proxy and command line with theirs, whose model is the fake one. */
export async function describeFramework({ name, title, pypi, client, server }: Framework): Promise<void> {
  const python = frameworkPython(name);
  const model = await startFakeModel();
  afterAll(() => model.close());
  const here = new URL(`../${name}/`, import.meta.url).pathname;
  const env = {
    ...QUIET,
    PEER_MODEL: model.url,
    PYTHONPATH: ['.', '../python/'].map((path) => new URL(path, import.meta.url).pathname).join(':'),
  };
  const named = `${title}${python === undefined ? '' : ` ${versionOf(python, pypi)}`}`;
  if (client !== undefined) {
    const open = (url: string): Talk => ({
      ...driverTalk([python ?? '', `${here}client.py`, url], { hasList: false, env }),
      ...client.traits,
    });
    describeClient({ title: named, talk: python === undefined ? undefined : open, ...client });
  }
  describeServer({
    title: named,
    command: python === undefined ? undefined : (port) => [python, `${here}server.py`, String(port)],
    env,
    except: server.except,
    conversations: MODEL_CONVERSATIONS,
    also: [ASK],
    slow: MODEL_SLOW,
  });
  describeLong();
}

function versionOf(python: string, pypi: string): string {
  return execFileSync(python, ['-c', `from importlib.metadata import version; print(version('${pypi}'))`], { encoding: 'utf8' }).trim();
}

const ASK: Conversation = {
  id: 'ask',
  title: 'parley ask prints the answer',
  run: async (_talk, { url = '' }) => {
    const { code, out, err } = await run(['ask', url, 'Do [[say from the command line]]']);
    assert.deepEqual([code, out], [0, 'from the command line\n'], err);
  },
};
