import { useEffect, useState } from 'preact/hooks';
import { Empty } from '../ui/basic.tsx';
import { reportRedirect } from './redirect.ts';

const LATE_MS = 3000;

/** Where an OAuth server redirects to. The window that waits for it gets the answer, and this one can be closed. */
export function SignedIn() {
  const [state, setState] = useState<'open' | 'heard' | 'late'>('open');
  useEffect(() => {
    const late = setTimeout(() => setState('late'), LATE_MS);
    const end = reportRedirect(() => {
      clearTimeout(late);
      setState('heard');
      window.close(); // browsers may refuse this, so the page says it too
    });
    return () => {
      clearTimeout(late);
      end();
    };
  }, []);
  return (
    <main class="signed-in">
      {state === 'late' ? (
        <Empty title="No page waits for this sign-in" isPage>
          <p>
            It was started in a page that is closed, or too long ago. <a href="/console/agents">Start again</a>
          </p>
        </Empty>
      ) : (
        <Empty title={state === 'heard' ? 'The console has the answer' : 'One moment …'} isPage>
          <p role="status">{state === 'heard' ? 'You can close this window.' : 'The answer of the server goes to the console.'}</p>
        </Empty>
      )}
    </main>
  );
}
