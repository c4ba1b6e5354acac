import { useRef, useState } from 'preact/hooks';
import type { AdminExchange } from '#protocol';
import { admin, wordsFor } from '../api.ts';
import { usePolling } from '../poll.ts';
import { NODE } from '../prefix.ts';
import { Empty, Problem } from '../ui/basic.tsx';
import type { ConsoleExchange } from './exchange.ts';
import { ExchangesView } from './exchanges.tsx';

type Seen = ReadonlyMap<number, AdminExchange>;

const KEPT = 200;

/** The newest exchanges by number, with later updates. */
function joined(seen: Seen, more: readonly AdminExchange[]): Seen {
  const all = new Map([...seen, ...more.map((one) => [one.n, one] as const)]);
  return new Map([...all].sort(([left], [right]) => left - right).slice(-KEPT));
}

/** Requests of all clients to this node, while recording is on. */
export function NodeTraffic() {
  const [seen, setSeen] = useState<Seen>(new Map());
  const [isOn, setOn] = useState(false);
  const last = useRef(0);
  const [wanted, setWanted] = useState('');
  const [problem, setProblem] = useState('');
  const look = async (): Promise<void> => {
    try {
      const page = await admin.wire(last.current);
      last.current = page.last;
      setProblem('');
      setOn(page.isOn);
      if (page.exchanges.length > 0) setSeen((before) => joined(before, page.exchanges));
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  usePolling(look, 1000);
  const act = async (what: Promise<void>, isCleared = false): Promise<void> => {
    try {
      await what;
      if (isCleared) setSeen(new Map());
      await look();
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  const all = [...seen.values()].reverse().filter((one) => fits(one, wanted));
  return (
    <section aria-label="Traffic of all clients">
      <p class="lead">
        Requests of all clients to this node, and the responses. They are recorded only while this page is open and recording, in memory,
        the last 100; credentials are left out. Who switched it on is in the audit log.
      </p>
      <Problem text={problem} />
      <div class="row pick">
        {isOn ? (
          <button type="button" onClick={() => void act(admin.wireOn(false))}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" onClick={() => void act(admin.wireOn(true))}>
            Record traffic
          </button>
        )}
        <button type="button" onClick={() => void act(admin.wireClear(), true)}>
          Clear
        </button>
        <input
          type="search"
          aria-label="Search the traffic"
          placeholder="Path, caller or text"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <span role="status" class={isOn ? 'badge badge-live' : 'badge'}>
          {isOn ? 'recording' : 'off'}
        </span>
      </div>
      {all.length === 0 ? <Nothing isOn={isOn} isSearched={wanted !== ''} /> : <ExchangesView all={all.map(asExchange)} />}
    </section>
  );
}

/** Shown for an empty list. */
function Nothing({ isOn, isSearched }: { readonly isOn: boolean; readonly isSearched: boolean }) {
  if (isSearched)
    return (
      <Empty title="No matches">
        <p>No recorded request contains these words. Remove some of them.</p>
      </Empty>
    );
  return (
    <Empty title={isOn ? 'No requests yet' : 'Traffic is not being recorded'}>
      <p>
        {isOn
          ? 'Requests to this node’s agents appear here as they happen. Send one with any client.'
          : 'Select “Record traffic” to show requests and responses as they happen.'}
      </p>
    </Empty>
  );
}

function fits({ method, target, principal = '', body, answer }: AdminExchange, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  return text === '' || [method, target, principal, body, answer].some((each) => each.toLowerCase().includes(text));
}

/** Traffic of the node in the form of the console's own traffic. */
function asExchange({ principal, client, target, at, endedMs, isCut, ...rest }: AdminExchange): ConsoleExchange {
  return {
    ...rest,
    to: [principal, client].filter((each) => each !== undefined && each !== '').join(' from '),
    at: Date.parse(at),
    url: `${NODE}${target}`,
    frames: [...rest.frames],
    endedMs,
    problem: '',
    note: isCut ? 'Truncated: the body was too long to keep.' : '',
  };
}
