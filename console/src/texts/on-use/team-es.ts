import type { TeamKey } from './team-en.js';

/** The texts of Team, in Spanish. */
export const teamEs: Record<TeamKey, string> = {
  'team.search': 'Nombre, usuario o correo',
  'team.role': 'Rol',
  'team.factor': 'Segundo factor',
  'team.none': 'No hay usuarios',
  'team.noneHint': 'Cree el primero.',
  'team.unknown': 'No existe el usuario {username}',
  'team.password': 'Contraseña de un solo uso de {username}',
  'team.passwordHint':
    'Entréguela a la persona de forma segura. Sirve hasta {at}, para una entrada, y después hay que cambiarla.',
  'team.passwordUntil': 'Contraseña de un solo uso hasta',
  'team.courierRole': 'Rol en el courier',
  'team.prefixHint': 'El código, un punto y un nombre, por ejemplo {prefix}ana',
  'team.ownersOnly': 'Un propietario del courier puede cambiar el equipo.',
  'courierRole.owner': 'Propietario: gestiona los usuarios',
  'courierRole.member': 'Miembro',
  'team.self': 'Es usted. Cambie su contraseña y su segundo factor en su cuenta.',
  'team.changeRole': 'Cambiar el rol',
  'team.reset_password': 'Restablecer la contraseña',
  'team.reset_two_factor': 'Restablecer el segundo factor',
  'team.disable': 'Desactivar el usuario',
  'team.enable': 'Activar el usuario',
  'team.enabled': '{username} puede entrar de nuevo.',
  'team.openTokens': 'Tokens de servicio que {username} ha creado y que aún funcionan: {count}.',
  'team.confirm': 'Confirme que es usted',
  'team.confirmWhy':
    'Inició sesión hace más de 15 minutos, y esto da acceso a alguien. Escriba su propia contraseña.',
  'team.confirmAction': 'Confirmar',
  'team.ownPassword': 'Su propia contraseña',
  'team.notConfirmed': 'No se cambió nada. Hace falta su propia contraseña.',
  'team.sessions': 'Dónde tiene sesión',
  'team.noSessions': 'En ninguna parte.',
  'team.endSessions': 'Terminar todas las sesiones',
  'team.sessionsEnded': 'Todas las sesiones de {username} terminaron.',
  'teamEffect.disable':
    'La sesión de {username} termina de inmediato en todas partes, y no puede entrar hasta que usted lo active.',
  'teamEffect.reset_password':
    'La sesión de {username} termina de inmediato en todas partes, y recibe una contraseña de un solo uso, que usted verá a continuación.',
  'teamEffect.reset_two_factor':
    'La sesión de {username} termina de inmediato en todas partes. La aplicación y los códigos de respaldo ya no sirven, y basta la contraseña.',
  'teamEffect.role': 'Los permisos de {username} cambian de inmediato, y todas sus sesiones terminan.',
  'teamEffect.sessions':
    'La sesión de {username} termina de inmediato en todas partes. Puede entrar de nuevo.',
};
