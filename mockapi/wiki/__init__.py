"""The wikis behind the API: which pages and revisions exist, what is known of them, who may write, and writes."""
