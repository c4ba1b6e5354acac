import type { AdminReplica } from '#protocol';
import { usePolling } from '../poll.ts';
import { Ago, Copy, Empty, Problem, took, when } from '../ui/basic.tsx';
import { nodeName } from './changes.ts';
import { changes, colourOf, refreshReplicas, replicas, replicasProblem } from './state.ts';
import './replicas.css';

const EVERY_MS = 1500;

/** The nodes on one database: cells, leases, forwarded requests and takeovers, live. */
export function ReplicasPage() {
  usePolling(refreshReplicas, EVERY_MS);
  const seen = replicas.value;
  return (
    <div class="page replicas">
      <h1>Replicas</h1>
      <Problem text={replicasProblem.value} onAgain={() => void refreshReplicas()} />
      {seen === undefined ? <p class="loading" role="status" /> : seen === null ? <Alone /> : <Seen nodes={seen} />}
    </div>
  );
}

const STORE = 'export PARLEY_STORE=postgres://parley@localhost/parley';
const NODE = 'parley serve ./agent.ts --port 4001 --data ./node-1';

/** Shown on a node with a store of its own. */
function Alone() {
  return (
    <Empty title="This node has a store of its own">
      <p>
        Several nodes on one Postgres database share the tasks. If one of them ends, the others take its tasks over. To start one of them:
      </p>
      <p>
        <code>{STORE}</code> <Copy label="Copy" text={STORE} />
      </p>
      <p>
        <code>{NODE}</code> <Copy label="Copy" text={NODE} />
      </p>
    </Empty>
  );
}

function Seen({ nodes }: { readonly nodes: readonly AdminReplica[] }) {
  const owned = nodes.reduce((all, { cells }) => all + cells, 0);
  const sum = (read: (node: AdminReplica) => number | undefined): number => nodes.reduce((all, node) => all + (read(node) ?? 0), 0);
  const figures: readonly (readonly [string, number])[] = [
    ['Nodes', nodes.length],
    ['Cells owned', owned],
    ['Forwarded', sum(({ forwards }) => forwards)],
    ['Takeovers', sum(({ takeovers }) => takeovers)],
  ];
  return (
    <>
      <p class="lead">
        The nodes on one Postgres database. A conversation belongs to a cell, and its cell to one node. A request that arrives at another
        node is forwarded.
      </p>
      <dl class="replica-figures">
        {figures.map(([label, value]) => (
          <div key={label} class="panel">
            <dt>{label}</dt>
            <dd>{value.toLocaleString('en')}</dd>
          </div>
        ))}
      </dl>
      <Nodes nodes={nodes} />
      <Cells nodes={nodes} />
      <Changes />
    </>
  );
}

/** The longest lease that was seen, so that its bar shrinks between renewals. */
let leaseMsMax = 1;

function Nodes({ nodes }: { readonly nodes: readonly AdminReplica[] }) {
  leaseMsMax = Math.max(leaseMsMax, ...nodes.map(({ leaseMs }) => leaseMs));
  return (
    <section aria-label="Nodes">
      <h2>Nodes</h2>
      <div class="panel replica-table">
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col" class="figure-cell">
                Cells
              </th>
              <th scope="col">Lease</th>
              <th scope="col" class="figure-cell">
                Forwarded
              </th>
              <th scope="col" class="figure-cell">
                Takeovers
              </th>
              <th scope="col">Started</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((node) => (
              <Node key={node.id} node={node} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Node({ node }: { readonly node: AdminReplica }) {
  const { id, url, cells, leaseMs, forwards, takeovers, startedAt, isThis } = node;
  const isOver = leaseMs <= 0;
  return (
    <tr>
      <th scope="row">
        <i class={`swatch ${colourOf(node)}`} aria-hidden="true" />
        <span>
          {/^https?:\/\//.test(url) && !isThis ? (
            <a href={url} target="_blank" rel="noopener noreferrer">
              {nodeName(node)}
            </a>
          ) : (
            nodeName(node)
          )}{' '}
          <span class="dim">#{id}</span>
        </span>{' '}
        {isThis ? <span class="badge badge-live">answers you</span> : null}{' '}
        {isOver ? <span class="badge badge-bad">lease is over</span> : null}
        {!isOver && cells === 0 ? <span class="badge">stands by</span> : null}
      </th>
      <td class="figure-cell" data-label="Cells">
        {cells}
      </td>
      <td data-label="Lease">
        <span class="lease">
          <span class="lease-track" aria-hidden="true">
            <i class={isOver ? 'over' : ''} style={{ width: `${Math.max(0, Math.min(1, leaseMs / leaseMsMax)) * 100}%` }} />
          </span>
          <span class="lease-left">{isOver ? `over for ${took(-leaseMs)}` : took(leaseMs)}</span>
        </span>
      </td>
      <td class="figure-cell" data-label="Forwarded">
        {forwards?.toLocaleString('en') ?? <span title="The node does not answer">?</span>}
      </td>
      <td class="figure-cell" data-label="Takeovers">
        {takeovers?.toLocaleString('en') ?? <span title="The node does not answer">?</span>}
      </td>
      <td data-label="Started">
        <Ago at={startedAt} />
      </td>
    </tr>
  );
}

/** One square for each cell, in the colour of its node. */
function Cells({ nodes }: { readonly nodes: readonly AdminReplica[] }) {
  const owners = new Map(nodes.flatMap((node) => node.owned.map((cell) => [cell, node] as const)));
  const count = Math.max(127, ...owners.keys()) + 1;
  const inWords = nodes.map((node) => `${nodeName(node)} ${node.cells}`).join(', ');
  const free = count - owners.size;
  return (
    <section aria-label="Cells">
      <div class="spread">
        <h2>Cells</h2>
        {free === 0 ? null : <p class="badge badge-warn">{free} without an owner</p>}
      </div>
      <div class="panel">
        <div class="cells" role="img" aria-label={`Cells by node: ${inWords}; without an owner ${free}`}>
          {Array.from({ length: count }, (_, cell) => {
            const owner = owners.get(cell);
            return (
              <i
                key={cell}
                class={owner === undefined ? 'free' : colourOf(owner)}
                title={`Cell ${cell}: ${owner === undefined ? 'nobody' : nodeName(owner)}`}
              />
            );
          })}
        </div>
        <ul class="cell-legend" aria-hidden="true">
          {nodes.map((node) => (
            <li key={node.id}>
              <i class={`swatch ${colourOf(node)}`} /> {nodeName(node)} <span class="dim">{node.cells}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

/** Nodes that came or went and cells that changed hands since the page was opened. */
function Changes() {
  return (
    <section aria-label="Changes">
      <h2>Changes since you opened this page</h2>
      {changes.value.length === 0 ? <p class="dim">None. Nodes that come or go, and cells that change hands, are listed here.</p> : null}
      <div role="log">
        <ol class="replica-changes">
          {changes.value.map(({ at, text }, index) => (
            <li key={changes.value.length - index}>
              <time class="dim">{when(at)}</time> {text}
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
