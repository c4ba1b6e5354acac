import { useState } from 'preact/hooks';
import { refused, signIn, token } from './session.ts';

/** The sign-in page. The token is kept in memory only, unless the user chooses otherwise. */
export function SignIn() {
  const [given, setGiven] = useState('');
  const [isKept, setKept] = useState(false);
  const isForbidden = refused.value === 'forbidden';
  return (
    <form
      class="panel sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        if (given.trim() !== '') signIn(given, isKept);
      }}
    >
      <h1>{isForbidden ? 'You do not have permission' : 'Sign in to this node'}</h1>
      <p>
        {isForbidden
          ? 'The token is valid but lacks the scope admin. Use another one.'
          : token.value === ''
            ? 'Enter this machine’s token, or a key with the scope admin.'
            : 'The token was not accepted. Use another one.'}
      </p>
      <label>
        Token
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.currentTarget.checked)} />
        Keep it for this tab, also after a reload
      </label>
      <button type="submit" class="primary">
        Sign in
      </button>
      <p class="dim">
        <code>parley serve</code> prints where this machine’s token is stored. To create a key, run{' '}
        <code>parley keys create console --scope admin</code>. The token is sent to this node only, and forgotten when the page is closed.
      </p>
    </form>
  );
}
