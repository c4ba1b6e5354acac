import { path } from '../route.ts';
import { Empty } from '../ui/basic.tsx';
import { ExchangesView } from './exchanges.tsx';
import { NodeTraffic } from './node.tsx';
import { RawRequest } from './raw.tsx';
import { changes, exchanges, forgetTraffic } from './recorder.ts';
import { Rosetta } from './rosetta.tsx';
import './wire.css';

const TABS = [
  ['/wire', 'This console'],
  ['/wire/node', 'All clients'],
  ['/wire/rosetta', 'Rosetta view'],
  ['/wire/raw', 'Raw request'],
] as const;

/** `/wire`: traffic of this console and of the node, and dialects side by side. */
export function WirePage() {
  const here = path.value;
  return (
    <div class="page wire">
      <h1>Wire</h1>
      <nav class="pills" aria-label="Views of the wire">
        {TABS.map(([to, label]) => (
          <a key={to} href={`/console${to}`} {...(here === to ? { 'aria-current': 'page' } : {})}>
            {label}
          </a>
        ))}
      </nav>
      <View here={here} />
    </div>
  );
}

/** The view for a path. */
function View({ here }: { readonly here: string }) {
  switch (here) {
    case '/wire/rosetta':
      return <Rosetta />;
    case '/wire/raw':
      return <RawRequest />;
    case '/wire/node':
      return <NodeTraffic />;
    default:
      return <Own />;
  }
}

/** The requests of this console. */
function Own() {
  void changes.value;
  const all = exchanges.value;
  // Exchanges change in place, and a view is drawn again only for a new list.
  if (all.length > 0) {
    return (
      <>
        <div class="row pick">
          <button type="button" onClick={forgetTraffic}>
            Clear
          </button>
          <span class="dim">The requests of this tab, newest first. They stay until the tab is closed.</span>
        </div>
        <ExchangesView all={[...all]} />
      </>
    );
  }
  return (
    <Empty title="No requests yet">
      <p>
        Every request of this console is shown here as it went over the wire, frame by frame. <a href="/console/chat">Start a chat</a> or{' '}
        <a href="/console/wire/raw">send a raw request</a>. Requests of other clients are under <a href="/console/wire/node">All clients</a>
        .
      </p>
    </Empty>
  );
}
