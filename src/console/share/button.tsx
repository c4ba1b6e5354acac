import { wordsFor } from '../api.ts';
import { say } from '../ui/basic.tsx';
import { saveFile } from '../ui/save.ts';

/** Downloads a task or its conversation as one HTML file. */
async function save(id: string, isWhole: boolean): Promise<void> {
  const [{ readToShare }, { sharedHtml, titleOfShared }] = await Promise.all([import('./shared.ts'), import('./html.ts')]);
  const shared = await readToShare(id, isWhole);
  const name = titleOfShared(shared)
    .replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-')
    .slice(0, 60);
  saveFile(`${name}.html`, sharedHtml(shared), 'text/html');
}

/** The choice of what to share. */
export function Share({ id, onProblem }: { readonly id: string; readonly onProblem: (text: string) => void }) {
  return (
    <select
      class="run-with"
      aria-label="Share as a file"
      value=""
      onChange={(event) => {
        const choice = event.currentTarget.value;
        event.currentTarget.value = '';
        if (choice === '') return;
        save(id, choice === 'all').then(
          () => say('The file has all messages and events. Credentials are removed.'),
          (thrown: unknown) => onProblem(wordsFor(thrown)),
        );
      }}
    >
      <option value="">Share …</option>
      <option value="one">this task, as HTML</option>
      <option value="all">the conversation, as HTML</option>
    </select>
  );
}
