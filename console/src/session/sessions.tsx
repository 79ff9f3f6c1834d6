import { readUserAgent } from '../../../src/platform/identity/user-agent.js';
import type { LoginSession } from '../../../sdk/typescript/src/index.js';
import { addTexts, dateTime, t } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Content, Problem, Table, Tag } from '../ui/parts.js';
import { api } from './session.js';
import { accountTexts } from './account-texts.js';

addTexts(accountTexts);

const SHOWN = 50;

/** Where the user is logged in. Each session but the present one can be ended. */
export function SessionList() {
  const sessions = useLoad(
    async (signal) => (await api().users.listSessions({ limit: SHOWN }, { signal })).data,
    [],
  );
  const end = useAction(async (id: string) => {
    await api().users.manageSessions({ action: 'end', session_id: id });
    sessions.reload();
  });
  const endOthers = useAction(async () => {
    await api().users.manageSessions({ action: 'end_all', keep_current: true });
    sessions.reload();
  });
  return (
    <div class="stack">
      <p>{t('sessions.hint')}</p>
      <Problem text={end.error ?? endOthers.error} />
      <Content of={sessions}>
        {(data) => (
          <>
            <SessionTable rows={data} onEnd={({ session_id }) => end.run(session_id)} isBusy={end.isBusy} />
            {data.length > 1 && (
              <div class="actions">
                <button
                  type="button"
                  class="danger"
                  disabled={endOthers.isBusy}
                  onClick={() => endOthers.run()}
                >
                  {t('sessions.endOthers')}
                </button>
              </div>
            )}
          </>
        )}
      </Content>
    </div>
  );
}

type TableProps = { rows: LoginSession[]; onEnd: (ended: LoginSession) => void; isBusy: boolean };

const SessionTable = ({ rows, onEnd, isBusy }: TableProps) => (
  <Table
    caption={t('sessions.title')}
    rows={rows}
    keyOf={({ session_id }) => session_id}
    columns={[
      { title: t('sessions.device'), cell: ({ user_agent }) => deviceName(user_agent) },
      {
        title: t('sessions.address'),
        isExtra: true,
        cell: ({ address }) => <span class="mono">{address}</span>,
      },
      { title: t('sessions.lastSeen'), cell: ({ last_seen_at }) => dateTime(last_seen_at) },
      {
        title: t('sessions.change'),
        cell: (row) =>
          row.is_current ? (
            <Tag tint="good">{t('sessions.current')}</Tag>
          ) : (
            <button type="button" class="quiet" disabled={isBusy} onClick={() => onEnd(row)}>
              {t('menu.logout')}
              <span class="unseen"> {deviceName(row.user_agent)}</span>
            </button>
          ),
      },
    ]}
  />
);

/** The browser and the system of a `User-Agent`, or the program that it names first. */
function deviceName(agent: string | null): string {
  if (!agent) return t('sessions.unknown');
  const { browser, system } = readUserAgent(agent);
  const [program = ''] = agent.split(/[\s(]/);
  return [browser ?? program, system].filter(Boolean).join(' · ');
}
