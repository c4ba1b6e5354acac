import { failureIn } from './cause.ts';

interface FailureProps {
  /** What the agent said when it failed. */
  readonly said: string;
  readonly taskId?: string | undefined;
  /** What else went wrong, for example with the connection. */
  readonly problem?: string;
}

/** Why a task failed, with the way to its log lines. On an open node of this machine this is what the agent threw. */
export function FailureBox({ said, taskId, problem = '' }: FailureProps) {
  const { words, rest, isOnlyHere } = failureIn(said);
  return (
    <div class="failure" role="alert">
      {problem === '' ? null : <p>{problem}</p>}
      {words === '' ? null : <p class="failure-words">{words}</p>}
      {rest === '' ? null : <pre>{rest}</pre>}
      {taskId === undefined ? null : (
        <p class="failure-more">
          <a href={`/console/health?task=${encodeURIComponent(taskId)}`}>Show its log lines</a>
          {isOnlyHere ? <span>Only callers on this machine see the cause.</span> : null}
        </p>
      )}
    </div>
  );
}
