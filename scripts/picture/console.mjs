// Pictures of the console, made with Chromium: docs/console-page.svg, and docs/console.svg, which shows several pages one after the other.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const SIZE = { width: 1180, height: 740 };
const FRAME_S = 3.5;

export async function consolePictures(node, folder) {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
  if (executablePath === undefined) {
    console.error('The pictures of the console are left as they are: there is no Chromium here');
    return;
  }
  const { tasks } = await (await fetch(`${node}/tasks`, { headers: { 'A2A-Version': '1.0' } })).json();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: SIZE });
    const frames = [];
    const shot = async () => frames.push((await page.screenshot({ type: 'jpeg', quality: 60 })).toString('base64'));
    await page.goto(`${node}/console/chat/demo`);
    const box = page.getByRole('textbox').first();
    await box.waitFor();
    await shot();
    await box.fill('approve');
    await box.press('Enter');
    await page.getByRole('button', { name: 'Yes, make it' }).waitFor();
    await shot();
    await page.goto(`${node}/console/approvals`);
    await page.getByText('May I make a file').first().waitFor();
    await shot();
    await page.goto(`${node}/console/tasks/${tasks[0].id}`);
    await page.getByText('approved.md').first().waitFor();
    await shot();
    await page.goto(`${node}/console/wire/rosetta?task=${tasks[0].id}`);
    await page.getByRole('heading', { name: 'A2A 0.3' }).waitFor();
    await shot();
    writeFileSync(join(folder, 'console.svg'), slides(frames));
    writeFileSync(join(folder, 'console-page.svg'), still(frames[1]));
  } finally {
    await browser.close();
  }
}

function still(frame) {
  const { width, height } = SIZE;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="The console: a chat, and an agent that asks before it acts">
<image width="${width}" height="${height}" href="data:image/jpeg;base64,${frame}"/>
</svg>
`;
}

/** Each frame covers the ones before it. */
function slides(frames) {
  const total = frames.length * FRAME_S;
  const styles = frames.map((_, at) => {
    const start = ((at / frames.length) * 100).toFixed(2);
    return `@keyframes f${at} { 0% { opacity: ${at === 0 ? 1 : 0} } ${start}%, 100% { opacity: 1 } } .f${at} { animation: f${at} ${total}s steps(1, end) infinite }`;
  });
  const { width, height } = SIZE;
  const images = frames.map(
    (data, at) => `<image class="f${at}" width="${width}" height="${height}" href="data:image/jpeg;base64,${data}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="The console: a chat, a question, the open approvals, a task, and the task in every dialect">
<style>
${styles.join('\n')}
</style>
${images.join('\n')}
</svg>
`;
}
