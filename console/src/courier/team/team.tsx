import { useHashList } from '../../office/list/listed.js';
import { loadPeople } from '../../office/pages/team/people.js';
import { Team } from '../../office/pages/team/team.js';
import { api, session } from '../../session/session.js';
import { loadTeamTexts } from '../../texts/on-use/team.js';
import { useLoad } from '../../ui/load.js';
import { linkTo, route } from '../../ui/router.js';

/** The page with its texts. */
export async function loadCourierTeamPage() {
  await loadTeamTexts();
  return CourierTeamPage;
}

/** The users of a courier. Its owners manage them, its members see them. */
function CourierTeamPage() {
  const list = useHashList('team', loadPeople);
  const rights = useLoad(
    async (signal) => (await api().users.listTeam({ limit: 1 }, { signal })).meta.can_manage,
    [],
  );
  return (
    <Team
      list={list}
      name={route.value.argument}
      linkOf={(username) => linkTo('team', username)}
      courierId={session.value?.user.courier_id ?? undefined}
      canManage={rights.data === true}
    />
  );
}
