<?php
# What the conformance wiki adds to the installer's LocalSettings.php.
$wgServer = getenv( 'CONFORMANCE_SERVER' ) ?: $wgServer;
$wgArticlePath = '/wiki/$1';
$wgSecretKey = getenv( 'CONFORMANCE_SECRET_KEY' );

# The modules that Wikimedia has, and MediaWiki's own tests ask for.
$wgRestAPIAdditionalRouteFiles[] = 'includes/Rest/content.v1.json';
$wgRestAPIAdditionalRouteFiles[] = 'includes/Rest/specs.v0.json';
$wgRestAPIAdditionalRouteFiles[] = 'includes/Rest/coreDevelopmentRoutes.json';

# A client's own request id is taken over, as on Wikimedia's wikis.
# An answer goes out only when all that it causes has been done: the next request sees it.
$wgForceDeferredUpdatesPreSend = true;
$wgJobRunRate = 0;
$wgAllowExternalReqID = true;
$wgRateLimits = [];
$wgPasswordAttemptThrottle = false;
$wgAccountCreationThrottle = [];
$wgMainCacheType = $wgSessionCacheType = $wgParserCacheType = CACHE_DB;
$wgUsePigLatinVariant = getenv( 'CONFORMANCE_VARIANTS' ) === '1';

wfLoadExtension( 'Cite' );
wfLoadExtension( 'ParserFunctions' );

# Hiding revisions is the business of an administrator here.
foreach ( [ 'deleterevision', 'deletelogentry', 'suppressrevision', 'viewsuppressed' ] as $right ) {
	$wgGroupPermissions['sysop'][$right] = true;
}
