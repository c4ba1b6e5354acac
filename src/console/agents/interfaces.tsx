import { useState } from 'preact/hooks';
import { A2AClient } from '#client';
import type { AgentCard, AgentInterface } from '#protocol';
import { isA2AError } from '#protocol';
import { wordsFor } from '../api.ts';
import { credentials } from '../session.ts';
import { took } from '../ui/basic.tsx';
import { recording } from '../wire/recorder.ts';
import { relayed } from './known.ts';

interface RowProps {
  readonly card: AgentCard;
  readonly one: AgentInterface;
  readonly isOurs: boolean;
}

/** One address of an agent. Tried means: asked for a task that nobody has, which changes nothing and must be refused in the right words. */
export function InterfaceRow({ card, one, isOurs }: RowProps) {
  const [outcome, setOutcome] = useState<{ readonly isFine: boolean; readonly text: string } | undefined>(undefined);
  const attempt = async (): Promise<void> => {
    const began = performance.now();
    try {
      await callOnce(card, one, isOurs);
      setOutcome({ isFine: true, text: `answers, ${took(performance.now() - began)}` });
    } catch (thrown) {
      setOutcome({ isFine: false, text: wordsFor(thrown) });
    }
  };
  return (
    <tr>
      <td>{one.protocolBinding}</td>
      <td>{one.protocolVersion}</td>
      <td>
        <code>{one.url}</code>
      </td>
      <td>
        {outcome === undefined ? (
          <button type="button" class="small" onClick={() => void attempt()}>
            Try
          </button>
        ) : (
          <span class={outcome.isFine ? 'badge badge-ok' : 'badge badge-bad'}>{outcome.text}</span>
        )}
      </td>
    </tr>
  );
}

async function callOnce(card: AgentCard, one: AgentInterface, isOurs: boolean): Promise<void> {
  const way = isOurs ? { auth: { present: () => ({ headers: credentials() }) } } : { fetch: relayed };
  const client = await A2AClient.connect(
    { ...card, supportedInterfaces: [one] },
    { ...way, interceptors: [recording(card.name)], retry: { tries: 1 } },
  );
  try {
    await client.service.get(
      { id: 'a-task-that-nobody-has' as never },
      {
        principal: { id: 'local', scopes: [] },
        dialect: client.connection.dialect as never,
        extensions: [],
        signal: AbortSignal.timeout(10_000),
      },
    );
  } catch (thrown) {
    if (isA2AError(thrown) && thrown.kind === 'TASK_NOT_FOUND') return;
    throw thrown;
  }
}
