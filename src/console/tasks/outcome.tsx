import type { Artifact, Message, Task } from '#protocol';
import { getChoicesFromMessage, isDataPart, isObject, isTerminal, isTextPart } from '#protocol';
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
      {artifacts.length === 0 ? (
        <p class="dim">{isTerminal(task.status.state) ? 'The task made none.' : 'None yet. They appear here while the agent works.'}</p>
      ) : null}
      {artifacts.map((artifact) => (
        <div key={artifact.artifactId} class="panel artifact-panel">
          <h3>{artifact.name ?? artifact.artifactId}</h3>
          {isLong(artifact) ? (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
            <section class="artifact-long" aria-label={artifact.name ?? artifact.artifactId} tabIndex={0}>
              <Parts parts={artifact.parts} />
            </section>
          ) : (
            <Parts parts={artifact.parts} />
          )}
        </div>
      ))}
      <h2>History</h2>
      {grouped(messagesOf(task), speakers).map((group, at) =>
        group.by === '' ? (
          group.messages.map((message, index) => <Said key={`${at} ${index}`} message={message} asked={group.messages[index - 1]} />)
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

const LONG_CHARS = 6000;

/** So long that the rest of the page would be out of reach below it. */
function isLong({ parts }: Artifact): boolean {
  return parts.reduce((sum, { text = '' }) => sum + text.length, 0) > LONG_CHARS;
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

interface SaidProps {
  readonly message: Message;
  readonly by?: string;
  /** The message before it. If it is a question, this one may choose one of its options. */
  readonly asked?: Message | undefined;
}

/** One message. Options and the choice of one are shown by their names. */
function Said({ message, by, asked }: SaidProps) {
  const isCaller = message.role === 'ROLE_USER';
  const options = getChoicesFromMessage(message).map(({ name }) => name);
  const chosen = isCaller && asked !== undefined ? chosenIn(message, asked) : undefined;
  const parts = options.length === 0 ? message.parts : message.parts.filter((part) => !(isDataPart(part) && hasOnlyOptions(part.data)));
  return (
    <div class={`history ${isCaller ? 'from-user' : ''}`}>
      <span class="dim">{isCaller ? 'caller' : (by ?? 'agent')}</span>
      <div>
        {chosen === undefined ? <Parts parts={parts} open={parts.some(isTextPart) ? 0 : 2} /> : <p>{chosen}</p>}
        {options.length === 0 ? null : <p class="dim">Options: {options.join(' · ')}</p>}
      </div>
    </div>
  );
}

/** Whether a part says nothing but its options. One with a tool call says more. */
function hasOnlyOptions(data: unknown): boolean {
  return isObject(data) && Object.keys(data).join() === 'options';
}

/** The name of the option that an answer chose. */
function chosenIn({ parts }: Message, asked: Message): string | undefined {
  const data = parts.length === 1 && parts[0] !== undefined && isDataPart(parts[0]) ? parts[0].data : undefined;
  const id = isObject(data) ? data['optionId'] : undefined;
  return getChoicesFromMessage(asked).find(({ optionId }) => optionId === id)?.name;
}
