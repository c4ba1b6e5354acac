import { describe, expect, it } from 'vitest';
import { elsewhere, pair } from '../../../test/support/cells.ts';
import { ctx, echo, request, type World } from '../../../test/support/engine.ts';

const SWEEP_MS = 310_000;

async function sendSix({ service }: World): Promise<void> {
  for (let n = 0; n < 6; n += 1) await service.send(request(`task ${n}`), ctx());
}

describe('retention with several processes', () => {
  it('deletes tasks of own cells only, and keeps the part of the maximum that its cells have', async () => {
    const { one, two } = await pair(echo, { limits: { finishedTasksMax: 8 } });
    await sendSix(one);
    await sendSix(two);
    const total = async (): Promise<number> => (await one.service.list({}, ctx())).totalSize;
    expect(await total()).toBe(12);
    await one.time.advance(SWEEP_MS);
    expect(await total()).toBe(10);
    await two.time.advance(SWEEP_MS);
    expect(await total()).toBe(8);
  });

  it('erases a caller’s data in one process after the other', async () => {
    const { one, two } = await pair();
    await sendSix(one);
    await sendSix(two);
    const owner = { principal: 'alice' };
    await expect(one.engine.admin.erase(owner)).rejects.toMatchObject(elsewhere(4));
    expect((await one.service.list({}, ctx())).totalSize).toBe(6);
    await two.engine.admin.erase(owner);
    expect((await one.service.list({}, ctx())).totalSize).toBe(0);
  });
});
