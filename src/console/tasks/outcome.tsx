import type { Message, Task } from '#protocol';
import { isTerminal } from '#protocol';
import { Parts } from '../ui/parts.tsx';
import type { Speakers } from './speakers.ts';
import { grouped } from './speakers.ts';

interface OutcomeProps {
  readonly task: Task;
  readonly speakers?: Speakers;
}

/** Artifacts and messages at the chosen event. */
export function Outcome({ task, speakers = new Map() }: OutcomeProps) {
  const artifacts = task.artifacts ?? [];
  return (
    <>
      <h2>Artifacts</h2>
      {artifacts.length === 0 ? <p class="dim">{isTerminal(task.status.state) ? 'None.' : 'None yet.'}</p> : null}
      {artifacts.map((artifact) => (
        <div key={artifact.artifactId} class="panel artifact-panel">
          <h3>{artifact.name ?? artifact.artifactId}</h3>
          <Parts parts={artifact.parts} />
        </div>
      ))}
      <h2>History</h2>
      {grouped(messagesOf(task), speakers).map((group, at) =>
        group.by === '' ? (
          group.messages.map((message, index) => <Said key={`${at} ${index}`} message={message} />)
        ) : (
          <details key={at} class="history-fold">
            <summary>
              <strong>{group.by}</strong>
              <span class="said-count">{group.messages.length === 1 ? '1 message' : `${group.messages.length} messages`}</span>
            </summary>
            {group.messages.map((message, index) => (
              <Said key={index} message={message} by={group.by} />
            ))}
          </details>
        ),
      )}
    </>
  );
}

/** What an agent said and made, without headings: for a fold with its name. */
export function AgentWords({ task }: { readonly task: Task }) {
  return (
    <>
      {messagesOf(task)
        .filter(({ role }) => role !== 'ROLE_USER')
        .map((message, at) => (
          <Parts key={at} parts={message.parts} />
        ))}
      {(task.artifacts ?? []).map(({ artifactId, parts }) => (
        <Parts key={artifactId} parts={parts} />
      ))}
    </>
  );
}

function messagesOf({ history = [], status: { message } }: Task): readonly Message[] {
  return message === undefined ? history : [...history, message];
}

function Said({ message, by }: { readonly message: Message; readonly by?: string }) {
  const isCaller = message.role === 'ROLE_USER';
  return (
    <div class={`history ${isCaller ? 'from-user' : ''}`}>
      <span class="dim">{isCaller ? 'caller' : (by ?? 'agent')}</span>
      <div>
        <Parts parts={message.parts} />
      </div>
    </div>
  );
}
