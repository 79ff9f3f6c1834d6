/** The diagnoses of a check in Spanish: what is the case, and what to do. openapi/diagnoses.yaml has the English; a test finds missing ones. */
export const diagnosesEs: Record<string, readonly [meaning: string, remedy: string]> = {
  dns_missing: [
    'El nombre del servidor de la dirección no existe.',
    'Corrija el nombre en la dirección, o publique un registro A o AAAA para él.',
  ],
  dns_failed: [
    'Los servidores de nombres no respondieron.',
    'Revise los servidores de nombres del dominio. Deben responder a A y a AAAA, también si no hay ninguno.',
  ],
  address_not_public: [
    'El servidor tiene una dirección privada o local. No se envió nada.',
    'Publique solo direcciones públicas. Pruebe un equipo de su red con un túnel que tenga una dirección pública.',
  ],
  host_not_listed: [
    'Esta instalación solo llama a los servidores que su operador permite en OUTBOUND_HOSTS. No se envió nada.',
    'Pida al operador que permita el servidor, o use uno permitido.',
  ],
  url_refused: [
    'Las reglas de esta instalación no permiten la dirección, por ejemplo su puerto. No se envió nada.',
    'Configure la dirección de nuevo. La respuesta dice la regla.',
  ],
  connection_refused: [
    'El servidor rechazó la conexión. Nadie escucha en ese puerto.',
    'Inicie el servidor web o corrija el puerto. El cortafuegos debe aceptar nuestras conexiones.',
  ],
  connection_lost: [
    'La conexión terminó antes de una respuesta completa.',
    'Busque en el registro de su servidor una caída o un reinicio a la hora de esta revisión, o un proxy que corta.',
  ],
  host_unreachable: [
    'No se pudo llegar al servidor.',
    'Revise que el servidor esté encendido y que su red y su cortafuegos acepten conexiones de internet.',
  ],
  timeout: [
    'No llegó ninguna respuesta dentro del límite de los envíos reales.',
    'Guarde la solicitud, responda enseguida y haga el trabajo después. Si ni se abrió la conexión, revise el cortafuegos.',
  ],
  not_http: ['La respuesta no es HTTP.', 'Corrija el puerto de la dirección. Ahí escucha otro servicio.'],
  certificate_expired: [
    'El certificado está vencido.',
    'Renueve el certificado, recargue el servidor web y automatice la renovación.',
  ],
  certificate_wrong_name: [
    'El certificado es de otro nombre.',
    'Use un certificado con el nombre de la dirección, o corrija el nombre en la dirección.',
  ],
  certificate_chain_incomplete: [
    'El servidor no envía los certificados intermedios. Los navegadores a menudo lo ocultan.',
    'Configure la cadena completa, por ejemplo fullchain.pem en vez de cert.pem.',
  ],
  certificate_untrusted: [
    'El certificado no es de confianza, por ejemplo porque es autofirmado o aún no vale.',
    'Use un certificado de una autoridad pública.',
  ],
  tls_failed: [
    'Falló el inicio de TLS.',
    'Permita TLS 1.2 o 1.3 con cifrados actuales y no pida un certificado de cliente.',
  ],
  redirect_to_https: [
    'El servidor redirige a https. No seguimos redirecciones.',
    'Configure la dirección con https, como está en la evidencia.',
  ],
  redirect_to_other_host: [
    'El servidor redirige a otro nombre, por ejemplo con o sin www. No seguimos redirecciones.',
    'Configure como dirección el destino, que está en la evidencia.',
  ],
  redirect_to_login: [
    'El servidor redirige a una página de inicio de sesión.',
    'Excluya esta ruta del inicio de sesión de personas. Nuestras solicitudes traen un token y una firma.',
  ],
  redirect: [
    'El servidor redirige a otra ruta. No seguimos redirecciones.',
    'Configure como dirección el destino, que está en la evidencia. A menudo solo cambia la barra final.',
  ],
  token_place: [
    'Su sistema busca el token en un lugar donde los envíos reales no lo llevan. La evidencia dice cuál.',
    'Lea el token de Authorization: Bearer, que está en cada solicitud. Con el formato flat o flat_array está también en X-API-Key y en APIToken del cuerpo. Si lee el parámetro id, agréguelo a la dirección.',
  ],
  token_missing: [
    'Su sistema rechaza la solicitud, y no hay ningún token configurado.',
    'Configure como api_token el token que su sistema espera.',
  ],
  token_refused: [
    'Su sistema rechaza el token en los cinco lugares donde se suele buscar.',
    'Compare api_token con el token que su sistema espera, sin espacios. Revise que ninguna regla de usuarios o redes afecte a esta ruta.',
  ],
  signature_of_changed_body: [
    'Su sistema verifica la firma de un JSON que leyó y escribió de nuevo, o sea, de otros bytes.',
    'Verifique los bytes de la solicitud antes de leerlos (raw body).',
  ],
  signature_refused: [
    'Su sistema rechaza la firma.',
    'Compare el secreto. Firme {webhook-id}.{webhook-timestamp}.{body} con lo que sigue a whsec_, decodificado de base64. Revise la hora del servidor.',
  ],
  no_authentication: [
    'Su sistema aceptó una solicitud con un token y una firma equivocados. Quien conozca la dirección puede enviar paquetes o leer clientes.',
    'Responda 401 a una solicitud sin el token correcto o con una firma equivocada.',
  ],
  locked_out: [
    'Después de una solicitud con un token equivocado, su sistema rechaza también el correcto.',
    'No bloquee al remitente por un token equivocado. Cualquiera podría detener así sus webhooks.',
  ],
  wrong_path: [
    'La ruta no existe. La respuesta es una página para personas.',
    'Corrija la ruta de la dirección, o la de su sistema.',
  ],
  not_found: [
    'El servidor respondió 404.',
    'Corrija la ruta. Quien recibe eventos responde de 200 a 299 cuando los ha guardado.',
  ],
  customer_unknown: [
    'Su sistema respondió 404, como para un cliente que no conoce. La prueba no tiene cliente.',
    'No hay que hacer nada. Si también fallan paquetes de clientes que existen, revise la ruta.',
  ],
  method_refused: [
    'La ruta no acepta el método de la solicitud.',
    'Acepte POST para paquetes, y GET o POST para clientes.',
  ],
  body_too_large: [
    'El servidor rechaza por grande una solicitud de menos de 2 KiB.',
    'Suba el límite del cuerpo, también en el proxy, a 64 KiB.',
  ],
  expects_array: ['Su sistema acepta una lista y no un objeto.', 'Configure el formato flat_array.'],
  expects_object: ['Su sistema acepta un objeto plano.', 'Configure el formato flat.'],
  expects_event: ['Su sistema acepta eventos y no paquetes planos.', 'Configure el formato event.'],
  body_refused: [
    'Su sistema rechaza el cuerpo en todos nuestros formatos, o su tipo.',
    'Compare el formato con la documentación y acepte application/json; charset=utf-8. Ignore los campos que no conoce.',
  ],
  rate_limited: [
    'Su sistema respondió 429. Los envíos se repiten según nuestro plan, y tarde.',
    'Suba el límite de esta ruta. La evidencia tiene Retry-After, si lo hubo.',
  ],
  refused: [
    'Su sistema rechaza la solicitud.',
    'Busque el motivo en la respuesta, que está en la evidencia, o en su registro.',
  ],
  server_error: [
    'Su sistema falló con un estado de 500 o más.',
    'Busque el error en su registro, a la hora de esta revisión.',
  ],
  not_idempotent: [
    'Su sistema aceptó el primer envío y falló en el segundo, idéntico. Un envío se repite cuando se pierde una respuesta.',
    'Recuerde webhook-id, o PackageID, y responda 200 si ya lo tiene.',
  ],
  already_known: [
    'Su sistema respondió 409 para un paquete que ya tiene. Eso cuenta como entregado.',
    'No hay que hacer nada. Guardó la prueba como paquete. Si no lo quiere, ignore lo que trae X-Crossdock-Test.',
  ],
  conflict_on_repeat: [
    'Su sistema respondió 409. Con eventos eso es un fallo, y el envío se repite.',
    'Responda 200 para un webhook-id que ya tiene.',
  ],
  error_in_success: [
    'El estado dice éxito y el cuerpo dice error. El envío cuenta como aceptado y se pierde.',
    'Responda a un fallo con un estado de 400 o más. Entonces se repite.',
  ],
  html_in_success: [
    'El estado dice éxito y el cuerpo es una página para personas. Probablemente su código no se ejecutó.',
    'Revise que la dirección no sea la de una página de inicio o del alojamiento.',
  ],
  empty_response: [
    'El estado dice éxito y el cuerpo está vacío. Está permitido, pero algunos servidores responden así cuando no se ejecuta nada.',
    'No hay que hacer nada si ve la prueba en su registro. Para estar seguro, responda un JSON corto.',
  ],
  slow_response: [
    'La respuesta tardó más de la mitad del límite.',
    'No hay que hacer nada ahora. Responda antes de hacer el trabajo, para no pasar del límite en un día cargado.',
  ],
  weight_in_kilograms: [
    'La respuesta repite el peso como si el nuestro fuera en kilogramos.',
    'Lea el peso en libras. Un kilogramo son 2.2046 libras.',
  ],
  time_zone_misread: [
    'La respuesta repite la hora con otra zona, así que es otro momento.',
    'Lea las horas de los eventos como UTC. EntryDateTime de un paquete plano dice su zona, +00:00.',
  ],
  not_a_list: [
    'La respuesta no es una lista de clientes ni un objeto con una.',
    'Responda con una lista JSON, o un objeto con una lista llamada data, customers, results, items o records.',
  ],
  wrapped_list: ['La lista está dentro de un objeto. Se acepta.', 'No hay que hacer nada.'],
  html_instead_of_list: [
    'La respuesta es HTML o XML.',
    'Revise la ruta, y que no pida el inicio de sesión de una persona.',
  ],
  not_json: [
    'La respuesta no es JSON correcto, o está incompleta.',
    'Escriba el JSON con una biblioteca. Busque antes o dentro de él una advertencia de su lenguaje.',
  ],
  not_utf8: [
    'La respuesta no está en UTF-8.',
    'Codifíquela en UTF-8. Las bases antiguas suelen tener Windows-1252 o Latin-1.',
  ],
  compressed: [
    'La respuesta está comprimida, aunque la solicitud pide lo contrario.',
    'Respete Accept-Encoding, o apague la compresión en esta ruta.',
  ],
  list_too_large: [
    'La respuesta es mayor de lo que se lee, o no terminó a tiempo.',
    'Envíe menos registros o más cortos. Se leen como máximo 100,000 registros y 20 MiB.',
  ],
  empty_list: [
    'La lista no tiene clientes.',
    'Revise que el token sea de la cuenta correcta y que no se aplique ningún filtro.',
  ],
  blank_codes: [
    'Hay registros sin código de cliente. Se omiten.',
    'Envíe el código de cada cliente como UserCode, como texto. La evidencia nombra los primeros registros.',
  ],
  duplicate_codes: [
    'Hay códigos repetidos. Solo se usa el último registro de cada código.',
    'Envíe cada cliente una vez. Compare los códigos exactamente, sin espacios y con mayúsculas y minúsculas.',
  ],
  records_skipped: [
    'Hay registros que no se pueden leer por otros motivos. Se omiten.',
    'Corrija los registros. La evidencia nombra los primeros.',
  ],
  pagination_cut: [
    'La respuesta es una página de una lista más larga. Solo se lee una.',
    'Envíe todos los clientes en una respuesta. Si su sistema tiene un parámetro para eso, agréguelo a la dirección.',
  ],
  fewer_customers: [
    'La lista es más corta que la última, por más de una quinta parte.',
    'Revise que no haya cambiado ningún filtro, tamaño de página o cuenta. Los clientes que faltan no se borran aquí.',
  ],
};
