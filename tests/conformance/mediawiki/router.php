<?php
# PHP's built-in server in place of Apache: /w/rest.php/any/thing is MediaWiki's rest.php, with the rest as its path.
# A file that is there (a skin's image) is left to the server; what is neither is not found.
$path = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
if ( !preg_match( '#^/w/(rest|api|index|load)\.php(/.*)?$#s', (string)$path, $found ) ) {
	return false;
}
$script = $found[1] . '.php';
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = "/w/$script";
$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . "/w/$script";
$_SERVER['PATH_INFO'] = rawurldecode( $found[2] ?? '' );
chdir( $_SERVER['DOCUMENT_ROOT'] . '/w' );
require $_SERVER['SCRIPT_FILENAME'];
