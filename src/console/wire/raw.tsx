import { useEffect, useState } from 'preact/hooks';
import { CURRENT_DIALECT, createUserMessage, DEFAULT_READ_LIMITS, DIALECTS, encodeWithLosses } from '#protocol';
import { agents } from '../agents/known.ts';
import { wordsFor } from '../api.ts';
import { NODE } from '../prefix.ts';
import { go } from '../route.ts';
import { credentials } from '../session.ts';
import { Problem } from '../ui/basic.tsx';
import { recording } from './recorder.ts';

const ENV = { ids: { next: () => crypto.randomUUID() }, limits: DEFAULT_READ_LIMITS };

function sampleIn(id: string, operation: 'send' | 'stream'): string {
  const dialect = DIALECTS.find((each) => each.id === id) ?? DIALECTS[0];
  if (dialect === undefined) return '';
  const { json } = encodeWithLosses(dialect, ['send.request', { message: createUserMessage('hello') }], ENV);
  const method = dialect.methods[operation] ?? dialect.methods.send ?? '';
  return JSON.stringify({ jsonrpc: '2.0', id: crypto.randomUUID(), method, params: json }, null, 2);
}

const DIALECT_OPTIONS = DIALECTS.map(({ id, title }) => (
  <option key={id} value={id}>
    {title}
  </option>
));

/**
 * Sends a request that the user writes, in any dialect, to any agent of this node, and shows the raw
 * response.
 */
export function RawRequest() {
  const [agent, setAgent] = useState('');
  const [dialect, setDialect] = useState<string>(CURRENT_DIALECT);
  const [operation, setOperation] = useState<'send' | 'stream'>('send');
  const [body, setBody] = useState('');
  const [problem, setProblem] = useState('');
  const known = agents.value ?? [];
  const to = agent === '' ? (known[0]?.name ?? '') : agent;
  useEffect(() => setBody(sampleIn(dialect, operation)), [dialect, operation]);
  const send = async (): Promise<void> => {
    try {
      JSON.parse(body);
      const request = new Request(`${NODE}/agents/${to}/a2a`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...credentials() },
        body,
      });
      setProblem('');
      const response = await recording(to)(request, (each) => fetch(each));
      void response.text().catch(() => undefined); // the recorder shows the response
      go('/wire');
    } catch (thrown) {
      setProblem(thrown instanceof SyntaxError ? `This is not JSON: ${thrown.message}` : wordsFor(thrown));
    }
  };
  return (
    <form
      class="raw panel"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="row">
        <label>
          Agent
          <select value={to} onChange={(event) => setAgent(event.currentTarget.value)}>
            {known.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Start with a request of
          <select value={dialect} onChange={(event) => setDialect(event.currentTarget.value)}>
            {DIALECT_OPTIONS}
          </select>
        </label>
        <label>
          Operation
          <select value={operation} onChange={(event) => setOperation(event.currentTarget.value === 'stream' ? 'stream' : 'send')}>
            <option value="send">send</option>
            <option value="stream">stream</option>
          </select>
        </label>
      </div>
      <label>
        JSON-RPC, sent as it stands to /agents/{to}/a2a
        <textarea class="mono" rows={18} spellcheck={false} value={body} onInput={(event) => setBody(event.currentTarget.value)} />
      </label>
      <Problem text={problem} />
      <button type="submit" class="primary">
        Send it
      </button>
    </form>
  );
}
