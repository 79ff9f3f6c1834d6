import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { accountTexts } from '../../../session/account-texts.js';
import { addTexts, dateTime, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content } from '../../../ui/parts.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { toast } from '../../ui/toasts.js';

addTexts(accountTexts);

const SHOWN = 20;

/** Where another user is logged in. All of its sessions can be ended. */
export function UserSessions({ userId, username }: { userId: string; username: string }) {
  const [isAsking, setIsAsking] = useState(false);
  const sessions = useLoad(
    async (signal) =>
      (await api().users.listSessions({ user_id: userId, is_active: true, limit: SHOWN }, { signal })).data,
    [userId],
  );
  return (
    <section class="stack">
      <h3>{t('team.sessions')}</h3>
      <Content of={sessions}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="muted">{t('team.noSessions')}</p>
          ) : (
            <>
              <ul class="plain-list">
                {rows.map(({ session_id, user_agent, address, last_seen_at }) => (
                  <li key={session_id} class="break">
                    {user_agent ?? t('sessions.unknown')} · <span class="mono">{address}</span> ·{' '}
                    {dateTime(last_seen_at)}
                  </li>
                ))}
              </ul>
              <button type="button" class="danger" onClick={() => setIsAsking(true)}>
                {t('team.endSessions')}
              </button>
            </>
          )
        }
      </Content>
      {isAsking && (
        <ConfirmDialog
          title={t('team.endSessions')}
          effect={t('teamEffect.sessions', { username })}
          action={t('team.endSessions')}
          onClose={() => setIsAsking(false)}
          run={async () => {
            await api().users.manageSessions({ action: 'end_all', user_id: userId });
            toast(t('team.sessionsEnded', { username }));
            sessions.reload();
          }}
        />
      )}
    </section>
  );
}
