import type { AnnouncedKey } from './announced-en.js';

/** The texts of announcements and of unknown parcels, in Spanish. */
export const announcedEs: Record<AnnouncedKey, string> = {
  'unknown.claimants': 'Quién dice que es suyo',
  'unknown.who': 'Códigos de usuario',
  'unknown.nobody': 'Nadie',
  'unknown.one': 'Uno: una sugerencia',
  'unknown.several': '{count}: una disputa',
  'unknown.none': 'Todos los paquetes tienen dueño',
  'unknown.noneHint': 'Los paquetes que nadie anunció aparecen aquí cuando se reciben.',
  'unknown.elsewhere': 'No está en esta página de la lista',
  'unknown.elsewhereHint': 'Puede que ya tenga dueño o decisión, o que esté más abajo en la lista.',
  'unknown.all': 'Todo sobre el paquete',
  'unknown.nobodyHint':
    'Nadie lo reclamó ni anunció. Mire la etiqueta. Los couriers pueden reclamarlo con el número completo.',
  'unknown.giveOther': 'Darlo a otro cliente',
  'unknown.noCustomer': 'Ningún cliente activo tiene este código',
  'unknown.claim': 'Reclamo',
  'unknown.announcement': 'Anuncio',
  'unknown.since': 'Desde',
  'unknown.afterReceipt': 'Anunciado después de recibirse el paquete',
  'unknown.fewArrived':
    'De los últimos {submitted} números que este courier anunció en 30 días solo llegaron {arrived}. Puede estar adivinando: pida un documento.',
  'unknown.noneArrived':
    'De los últimos {submitted} números que este courier anunció en 30 días no llegó ninguno. Puede estar adivinando: pida un documento.',
  'unknown.ofOther': 'El paquete está en la cuenta de otro courier, así que no se puede dar a este.',
  'unknown.give': 'Darlo a este cliente',
  'unknown.refuse': 'Rechazar el reclamo',
  'unknown.giveTitle': 'Quién recibe {number}',
  'unknown.gets': 'El paquete es para',
  'unknown.others': 'Los demás:',
  'unknown.claimRefused': 'el reclamo se rechaza. El courier se entera de eso, y no de quién es el dueño.',
  'unknown.announcementClosed':
    'el anuncio se cierra. Los escaneos posteriores de este paquete no lo marcan otra vez.',
  'unknown.effect':
    'El courier del nuevo dueño se entera enseguida. No se puede deshacer. Una corrección del paquete puede cambiar el dueño después.',
  'unknown.giveTo': 'Dar el paquete a {code}',
  'unknown.reasonHidden': 'Lo que vio, por ejemplo el nombre en la etiqueta. Solo para la auditoría.',
  'unknown.refuseTitle': 'Rechazar el reclamo',
  'unknown.refuseEffect':
    'El reclamo termina. El paquete y los demás reclamos quedan como están. El courier puede reclamar el número otra vez.',
  'unknown.reasonRead': 'El courier lee esto. No nombre a otros couriers ni clientes.',
  'unknown.refused': 'El reclamo fue rechazado.',
  'announcements.search': 'Número, código, nombre o tienda',
  'announcements.noneHint': 'Los couriers anuncian aquí sus paquetes. Usted puede hacerlo por ellos.',
  'announcements.flagged': 'Marcados: {count}',
  'announcements.flaggedHint':
    'No está claro de quién es este paquete. Mire su etiqueta y revise el anuncio.',
  'announcements.others': 'El mismo número, anunciado por otros',
  'announcements.several': 'Varios couriers anunciaron este número. ¿Qué anuncio busca?',
  'announcements.unknown': 'Nadie anunció {number}',
  'announcements.unknownHint': 'Es posible que se haya retirado, o que su número haya cambiado.',
  'announcements.find': 'Buscar el paquete',
  'announcements.edit': 'Editar el anuncio',
  'announcements.codeHint': 'De un cliente activo de {courier}.',
  'announcements.takeBack': 'Retirar',
  'announcements.takeBackTitle': 'Retirar {number}',
  'announcements.takeBackEffect':
    'El anuncio de {courier} para {customer} se elimina para siempre, también para el courier. Si el paquete llega después, no tiene dueño hasta que alguien se lo dé. Un paquete ya recibido conserva su dueño.',
  'announcements.staysFlagged': 'Si {courier} anuncia este número otra vez, vuelve a quedar marcado.',
  'announcements.takenBack': '{number} está retirado.',
  'announcements.unlikely': '{number} está anunciado, pero no parece un número de guía. Revíselo.',
  'announcements.uploadHint':
    'Un libro de Excel (.xlsx) o un archivo CSV con las columnas tracking_number y user_code, y opcionalmente vendor, description y reference. De un libro se lee la primera hoja con contenido. Primero se revisa el archivo, y no se guarda nada hasta que confirme.',
  'announcements.store': 'Anunciar ahora ({count})',
  'announcements.uploaded': 'Anunciados: {created}. Ya conocidos: {duplicate}.',
  'announcements.nothingNew': 'El archivo es válido, pero no tiene nada nuevo.',
  'announcements.duplicate': 'Ya conocidos',
  'announcements.differ': 'Anunciados antes para otro cliente que el del archivo, sin cambios: {count}.',
  'announcements.differRow': 'Fila {row}: es de {customer}',
};
