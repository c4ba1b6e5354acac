import { parseJson } from '#bindings';
import type { Dialect, Json, ReadEnv, Shape, Shapes } from '#protocol';
import { artifactId, contextId, countedIds, DEFAULT_READ_LIMITS, DIALECTS, messageId, taskId } from '#protocol';
import type { Measured } from './measure.ts';
import { compare } from './measure.ts';

/**
 * Measures a dialect's codec compared with plain JSON. Both sides start from the same bytes and end in text. The baseline decodes UTF-8,
 * parses and stringifies. Parley also makes all its checks, and converts to the canonical model and back.
 */
const env: ReadEnv = { ids: countedIds(), limits: DEFAULT_READ_LIMITS };
const task = { id: taskId('0192c7d0-task'), contextId: contextId('0192c7d0-context') };

interface Work<K extends Shape = Shape> {
  readonly name: string;
  readonly shape: K;
  readonly value: Shapes[K];
}

const WORKS: readonly Work[] = [
  {
    name: 'small send',
    shape: 'send.request',
    value: {
      message: {
        messageId: messageId('0192c7d0-5a1e-7c3e-9f31-0a5b6c7d8e9f'),
        role: 'ROLE_USER',
        contextId: task.contextId,
        parts: [{ text: 'Add a health check endpoint to the service' }],
      },
      configuration: { acceptedOutputModes: ['text/plain'] },
    },
  },
  {
    name: 'task of 100 artifacts',
    shape: 'send.result',
    value: {
      task: {
        ...task,
        status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-03-12T00:00:00.000Z' },
        artifacts: Array.from({ length: 100 }, (_, at) => ({
          artifactId: artifactId(String(at)),
          name: `file ${at}`,
          parts: [{ text: `content of file number ${at}, with a few words in it` }],
        })),
      },
    },
  },
  {
    name: 'stream event',
    shape: 'event',
    value: {
      artifactUpdate: {
        taskId: task.id,
        contextId: task.contextId,
        artifact: { artifactId: artifactId('0'), parts: [{ text: 'a chunk of thirty-two characters' }] },
        append: true,
      },
    },
  },
];

export interface CodecRow extends Measured {
  readonly dialect: string;
  readonly work: string;
}

export function benchCodecs(rounds: number): readonly CodecRow[] {
  return DIALECTS.flatMap((dialect) =>
    WORKS.filter((work) => canWrite(dialect, work)).map((work) => ({
      dialect: dialect.id,
      work: work.name,
      ...measure(dialect, work, rounds),
    })),
  );
}

function measure(dialect: Dialect, work: Work, rounds: number): Measured {
  const bytes = new TextEncoder().encode(JSON.stringify(dialect.encode(work.shape, work.value as never)));
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const platform = (): number => JSON.stringify(JSON.parse(utf8.decode(bytes))).length;
  const ours = (): number => {
    const parsed = parseJson(bytes, DEFAULT_READ_LIMITS.jsonDepthMax);
    if (!parsed.ok) throw new Error('the benchmark parses its own bytes');
    const decoded = dialect.decode(work.shape, parsed.value, env);
    if (!decoded.ok) throw new Error(`${dialect.id} reads its own ${work.name}: ${JSON.stringify(decoded)}`);
    return JSON.stringify(dialect.encode(work.shape, decoded.value as never)).length;
  };
  // Many short turns, so that other work on the machine affects both sides alike.
  return compare({ ours, beside: platform, rounds, iterations: Math.ceil(500_000 / bytes.length) });
}

function canWrite(dialect: Dialect, work: Work): boolean {
  try {
    return (dialect.encode(work.shape, work.value as never) as Json) !== undefined;
  } catch {
    return false;
  }
}
