import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import { countOf } from '../../../platform/values/count-of.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { changeLives, readLives } from './manage.js';
import { viewState } from './view.js';

export function sandboxLivesHandlers() {
  return {
    async getSandboxLives({ ctx }) {
      const state = await readLives(ctx);
      const playing = state.lives.filter((life) => life.state === 'playing').length;
      return reply(`${countOf(playing, 'life is', 'lives are')} playing.`, viewState(state));
    },

    async manageSandboxLives({ ctx, body }) {
      const state = await changeLives(ctx, body);
      return reply(`The clock shows ${formatDateTime(state.clock.sandboxTime)}.`, viewState(state));
    },
  } satisfies Partial<Handlers>;
}
