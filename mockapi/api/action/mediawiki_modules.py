"""The modules that MediaWiki's Action API has. One that the mock lacks is refused by name, see `not_implemented`.

The first block of each group is MediaWiki's core, 1.43.9: `MODULES` and `FORMATS` of includes/api/ApiMain.php,
`QUERY_*_MODULES` of includes/api/ApiQuery.php, the props of includes/api/ApiQuerySiteinfo.php. The second block is
extensions and later releases: the extensions in the release by `API*Modules` of their extension.json, those of English
Wikipedia by types-mediawiki-api 2.1.0 (npm), and what clients of Wikimedia's wikis call of Wikibase, CentralAuth,
FlaggedRevs, SiteMatrix and UrlShortener.
"""

from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ACTION: Final = _names(
    """
    acquiretempusername block changeauthenticationdata changecontentmodel checktoken clearhasmsg clientlogin
    compare createaccount cspreport delete edit emailuser expandtemplates feedcontributions feedrecentchanges
    feedwatchlist filerevert help imagerotate import linkaccount login logout managetags mergehistory move
    opensearch options paraminfo parse patrol protect purge query removeauthenticationdata resetpassword
    revisiondelete rollback rsd setnotificationtimestamp setpagelanguage stashedit tag unblock undelete
    unlinkaccount upload userrights validatepassword watch

    abusefiltercheckmatch abusefilterchecksyntax abusefilterevalexpression abusefilterunblockautopromote
    abuselogprivatedetails categorytree centralauthtoken discussiontoolscompare discussiontoolsedit
    discussiontoolsfindcomment discussiontoolsgetsubscriptions discussiontoolspageinfo discussiontoolspreview
    discussiontoolssubscribe echoarticlereminder echocreateevent echomarkread echomarkseen echomute
    editcheckreferenceurl flagconfig flow globaluserrights languagesearch oathvalidate review scribunto-console
    setglobalaccountstatus shortenurl sitematrix spamblacklist stabilize templatedata thank titleblacklist
    visualeditor visualeditoredit wbavailablebadges wbcreateclaim wbcreateredirect wbeditentity wbformatentities
    wbformatvalue wbgetclaims wbgetentities wbladdform wbleditformelements wblinktitles wblmergelexemes
    wblremoveform wbmergeitems wbparsevalue wbremoveclaims wbremovequalifiers wbremovereferences
    wbsearchentities wbsetaliases wbsetclaim wbsetclaimvalue wbsetdescription wbsetlabel wbsetqualifier
    wbsetreference wbsetsitelink
    """
)
PROP: Final = _names(
    """
    categories categoryinfo contributors deletedrevisions duplicatefiles extlinks fileusage imageinfo images
    info iwlinks langlinks links linkshere pageprops redirects revisions stashimageinfo templates transcludedin

    cirrusbuilddoc cirruscompsuggestbuilddoc cirrusdoc coordinates description entityterms extracts flagged
    globalusage growthimagesuggestiondata isreviewed langlinkscount mapdata mmcontent pageassessments pageimages
    pageterms pageviews proofread transcodestatus videoinfo wbentityusage
    """
)
LIST: Final = _names(
    """
    allcategories alldeletedrevisions allfileusages allimages alllinks allpages allredirects allrevisions
    alltransclusions allusers backlinks blocks categorymembers deletedrevs embeddedin exturlusage filearchive
    imageusage iwbacklinks langbacklinks logevents mystashedfiles pagepropnames pageswithprop prefixsearch
    protectedtitles querypage random recentchanges search tags usercontribs users watchlist watchlistraw

    abusefilters abuselog automatictranslationdenselanguages betafeatures centralnoticeactivecampaigns
    centralnoticelogs checkuser checkuserlog codexicons contenttranslation contenttranslationcorpora
    contenttranslationfavoritesuggestions cxpublishedtranslations cxtranslatorstats gadgetcategories gadgets
    geosearch globalallusers globalblocks globalgroups globalusers growthmentorlist growthmentormentee
    growthstarredmentees growthtasks linterrors mostviewed oldreviewedpages pagecollectionsmetadata projectpages
    projects readinglistentries trackingcategories wblistentityusage wbsearch wbsubscribers wikisets
    """
)
META: Final = _names(
    """
    allmessages authmanagerinfo filerepoinfo languageinfo siteinfo tokens userinfo

    babel checkuserformattedblockinfo communityconfiguration cxconfig cxdeletedtranslations featureusage
    globalpreferences globalrenamestatus globaluserinfo growthmenteestatus growthmentorstatus
    growthnextsuggestedtasktype linterstats notifications oath ores proofreadinfo readinglists siteviews
    unreadnotificationpages wbcontentlanguages wikibase
    """
)
SITEINFO: Final = _names(
    """
    autocreatetempuser autopromote autopromoteonce clientlibraries dbrepllag defaultoptions extensions
    extensiontags fileextensions functionhooks general interwikimap languages languagevariants libraries
    magicwords namespacealiases namespaces protocols restrictions rightsinfo showhooks skins specialpagealiases
    statistics uploaddialog usergroups variables

    copyuploaddomains doubleunderscores sbom
    """
)
FORMAT: Final = frozenset({"json", "jsonfm", "none", "php", "phpfm", "rawfm", "xml", "xmlfm"})
