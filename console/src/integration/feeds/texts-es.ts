import type { FeedsKey } from './texts-en.js';

export const feedsEs: Record<FeedsKey, string> = {
  'feeds.hint':
    'Servicios como EasyPost y Shippo envían aquí lo que los transportistas dicen de los paquetes. Las tiendas envían los pedidos cuyos paquetes se anuncian.',
  'feeds.new': 'Nueva fuente',
  'feeds.none': 'Todavía no hay fuentes.',
  'feeds.noneHint':
    'Con una fuente ve qué paquetes tiene el transportista, y los de una tienda se anuncian solos.',
  'feeds.kind': 'Remitente',
  'feeds.url': 'Dirección',
  'feeds.nameHint': 'Por ejemplo: EasyPost, producción.',
  'feeds.secret': 'Secreto del remitente',
  'feeds.secretHint': 'Déjelo vacío y creamos uno.',
  'feeds.lastReceived': 'Último evento',
  'feeds.enter':
    'Introduzca ahora esta dirección y este secreto en el remitente. El secreto no se muestra de nuevo.',
  'feeds.shippo': 'Si Shippo no firma para usted, añada &token= y el secreto a la dirección.',
  'feedKind.easypost': 'EasyPost',
  'feedKind.shippo': 'Shippo',
  'feedKind.shopify': 'Shopify',
  'feedKind.woocommerce': 'WooCommerce',
  'feeds.customer': 'Cliente de los pedidos que no nombran a ninguno',
  'feeds.customerHint': 'Un código de cliente. Si lo deja vacío, esos pedidos aparecen en la lista de abajo.',
  'feeds.refusals': 'Paquetes de pedidos que no se anunciaron',
  'feeds.refusalsHint':
    'Anúncielos, o corrija la causa y haga que la tienda envíe el pedido de nuevo. Aparecen durante 30 días.',
  'feeds.order': 'Pedido',
  'feeds.number': 'Número de rastreo',
  'feeds.reason': 'Motivo',
  'feeds.refusedAt': 'Última llegada',
  'feeds.feed': 'Fuente',
  'feeds.moreRefusals': 'Solo se muestran los {shown} más recientes de {total}.',
  'refusal.no_user_code': 'El pedido no nombra a ningún cliente y la fuente no tiene uno.',
  'refusal.unknown_user_code': 'Ningún cliente activo tiene ese código.',
  'refusal.several_customers': 'El pedido nombra a varios clientes.',
  'refusal.invalid_tracking_number': 'No es un número de rastreo, o son varios.',
  'refusal.other_customer': 'El número está anunciado para otro cliente.',
  'refusal.too_many_numbers': 'El pedido tiene más de 50 números de rastreo.',
  'feedAction.update': 'Cliente',
  'feeds.save': 'Guardar',
  'feedAction.rotate': 'Nuevo secreto',
  'feedAction.delete': 'Eliminar',
  'feedAsk.rotate': 'Recibe un secreto nuevo. El anterior funciona una hora más.',
  'feedAsk.delete':
    'Los eventos del remitente se rechazan de inmediato. Lo que ha comunicado y anunciado se conserva.',
};

/** The failures of feeds, in Spanish. */
export const feedFailuresEs: Record<string, string> = {
  feed_not_found: 'Esta fuente ya no existe. Recargue la página.',
  too_many_feeds: 'Ya hay 20 fuentes. Elimine una que ya no se use.',
};
