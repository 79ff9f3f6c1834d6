import type { SandboxLife, SandboxState } from '../../../../sdk/typescript/src/index.js';
import { failureText } from '../../texts/failures.js';
import { t, textOf } from '../../texts/texts.js';
import { Table, Tag } from '../../ui/parts.js';

type Props = { state: NonNullable<SandboxState>; onReload: () => void };

/** The clock of a sandbox, how far each life is, and numbers that start none. Only the service token of the sandbox moves the clock. */
export const Lives = ({ state: { clock, lives, misspelled_numbers: misspelled }, onReload }: Props) => (
  <section class="stack" data-testid="lives">
    <h3>{t('sandbox.livesTitle')}</h3>
    <p>
      {t(clock.speed === 0 ? 'sandbox.clockStands' : 'sandbox.clock', {
        at: clock.sandbox_time,
        speed: clock.speed,
      })}
    </p>
    {misspelled.length > 0 && (
      <p class="notice" data-testid="misspelled">
        {t('sandbox.misspelled', { numbers: misspelled.join(', ') })} {t('sandbox.spelling')}
      </p>
    )}
    {lives.length === 0 ? <p class="muted">{t('sandbox.noLives')}</p> : <LifeTable lives={lives} />}
    <div class="actions">
      <button type="button" onClick={onReload}>
        {t('sandbox.reload')}
      </button>
    </div>
  </section>
);

const TINTS: Record<string, 'good' | 'bad'> = { finished: 'good', refused: 'bad' };

const LifeTable = ({ lives }: { lives: SandboxLife[] }) => (
  <Table
    caption={t('sandbox.livesTitle')}
    rows={lives}
    keyOf={({ life_id }) => life_id}
    columns={[
      {
        title: t('common.number'),
        cell: ({ tracking_number }) => <span class="mono">{tracking_number}</span>,
      },
      {
        title: t('common.status'),
        cell: ({ state }) => <Tag tint={TINTS[state] ?? 'plain'}>{textOf('lifeState', state)}</Tag>,
      },
      {
        title: t('sandbox.steps'),
        cell: ({ steps, steps_played: played }) => t('sandbox.stepsOf', { played, all: steps.length }),
      },
      { title: t('sandbox.next'), cell: NextStep },
    ]}
  />
);

/** The next step and when it is due, or why it was refused. */
const NextStep = ({ next_step: next, refusal }: SandboxLife) => (
  <>
    {next && textOf('lifeStep', next.step)}
    {next?.due_at && <p class="muted nowrap">{next.due_at}</p>}
    {refusal && (
      <p class="muted">
        {failureText({ ...refusal, errors: [] })} <span class="mono">{refusal.code}</span>
      </p>
    )}
  </>
);
