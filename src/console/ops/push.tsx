import { useState } from 'preact/hooks';
import type { AdminDelivery, PushConfig } from '#protocol';
import { DIALECTS } from '#protocol';
import { clientFor, targetNamed } from '../agents/known.ts';
import { admin, wordsFor } from '../api.ts';
import { usePolling } from '../poll.ts';
import { Problem, Sure, say, when } from '../ui/basic.tsx';
import { DeliveryLog } from './attempts.tsx';
import { inWords } from './http-words.ts';
import './ops.css';

/** Webhooks: pending deliveries, dead letters, and the registered webhooks of a task. */
export function PushPage() {
  const [deliveries, setDeliveries] = useState<readonly AdminDelivery[] | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const look = async (): Promise<void> => {
    try {
      setDeliveries(await admin.deliveries());
      setProblem('');
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  usePolling(look, 2000);
  const act = async (what: Promise<unknown>, done: string): Promise<void> => {
    try {
      await what;
      say(done);
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
    await look();
  };
  const dead = (deliveries ?? []).filter(({ state }) => state === 'dead');
  const open = (deliveries ?? []).filter(({ state }) => state === 'open');
  return (
    <div class="page">
      <h1>Push</h1>
      <p class="lead">
        The events that go to webhooks. The node keeps an event that did not arrive and sends it again. You can send it again too.
      </p>
      <Problem text={problem} onAgain={() => void look()} />
      {deliveries?.length === 0 ? (
        <p>
          <strong>All deliveries are complete.</strong> A webhook is registered with a task: <code>parley task push-config create</code>, or
          in the request’s configuration.
        </p>
      ) : null}
      {dead.length === 0 ? null : (
        <>
          <h2>Dead letters</h2>
          <p class="dim">Deliveries that the node has given up. They stay here until you send them again or discard them.</p>
        </>
      )}
      <ul class="inbox">
        {dead.map((delivery) => (
          <Row key={delivery.id} delivery={delivery}>
            <button type="button" class="primary" onClick={() => void act(admin.replay(delivery.id), 'The delivery is retried.')}>
              Send again
            </button>
            <Sure label="Discard" onYes={() => void act(admin.discard(delivery.id), 'Discarded.')} />
          </Row>
        ))}
      </ul>
      {open.length === 0 ? null : <h2>In progress</h2>}
      <ul class="inbox">
        {open.map((delivery) => (
          <Row key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      <DeliveryLog />
      <Configs />
    </div>
  );
}

/** A number with its noun: `1 event`, `3 events`. */
function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** One delivery, with its buttons. */
function Row({ delivery, children }: { readonly delivery: AdminDelivery; readonly children?: preact.ComponentChildren }) {
  const { url, agent, taskId, pending, attempts, problem, dueAt, failingSince, dialect } = delivery;
  return (
    <li class="panel delivery">
      <div class="spread">
        <code>{url}</code>
        <span class="row">{children}</span>
      </div>
      <p class="dim">
        {agent}, in {DIALECTS.find(({ id }) => id === dialect)?.title ?? dialect} ·{' '}
        <a href={`/console/tasks/${encodeURIComponent(taskId)}`}>Open the task</a> · {counted(pending, 'event')} not delivered ·{' '}
        {counted(attempts, 'attempt')}
        {failingSince === undefined ? '' : ` · failing since ${when(failingSince)}`}
        {dueAt === undefined ? '' : ` · next ${when(dueAt)}`}
      </p>
      {problem === undefined ? null : <p class="problem">{inWords(problem)}</p>}
    </li>
  );
}

/** The webhooks of one task. They belong to its owner, so they are read with the user's own token. */
function Configs() {
  const [id, setId] = useState('');
  const [configs, setConfigs] = useState<readonly PushConfig[] | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const look = async (): Promise<void> => {
    try {
      const { agent } = await admin.task(id);
      setConfigs(await (await clientFor(targetNamed(agent))).push.list(id));
      setProblem('');
    } catch (thrown) {
      setConfigs(undefined);
      setProblem(wordsFor(thrown));
    }
  };
  return (
    <form
      class="panel configs"
      onSubmit={(event) => {
        event.preventDefault();
        void look();
      }}
    >
      <h2>Webhooks of a task</h2>
      <div class="row">
        <input type="text" aria-label="Task id" placeholder="Task id" value={id} onInput={(event) => setId(event.currentTarget.value)} />
        <button type="submit">Show</button>
      </div>
      <Problem text={problem} />
      {configs?.length === 0 ? (
        <p class="dim">
          This task has no webhooks. <code>parley task push-config create</code> adds one.
        </p>
      ) : null}
      <ul>
        {(configs ?? []).map((config) => (
          <li key={config.id}>
            <code>{config.url}</code> <span class="dim">{config.id}</span>
          </li>
        ))}
      </ul>
    </form>
  );
}
