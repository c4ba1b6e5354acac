"""What the test agent does with a message; `test/peers/agent.ts` answers to the same words."""
import asyncio

remembered = {}
asked = set()


async def behave(text, context, task, out):
    """`out` has the coroutines text(chunk, is_first), ask(question), sign_in(request), fail(reason), echo() and complete()."""
    word, _, rest = text.strip().partition(' ')
    if task in asked:
        asked.discard(task)
        await out.text(f'You chose {text}.', True)
    elif word == 'chunks':
        for at in range(1, int(rest) + 1):
            await out.text(f'{at} ', at == 1)
    elif word == 'remember':
        remembered[context] = rest
        await out.text(f'I will remember {rest}.', True)
    elif word == 'recall':
        await out.text(remembered.get(context, 'nothing'), True)
    elif word == 'question':
        asked.add(task)
        return await out.ask('Which color?')
    elif word == 'sign-in':
        asked.add(task)
        return await out.sign_in('Sign in first.')
    elif word == 'parts':
        await out.echo()
    elif word == 'slow':
        await asyncio.sleep(float(rest))
        await out.text(f'waited {rest} s', True)
    elif word == 'work':
        for at in range(1, 601):
            await out.text(f'{at} ', at == 1)
            await asyncio.sleep(0.1)
    elif word == 'fail':
        return await out.fail('it broke')
    else:
        await out.text(f'echo: {text}', True)
    await out.complete()
