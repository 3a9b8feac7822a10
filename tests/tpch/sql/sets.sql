-- nations of Europe
SELECT n_nationkey FROM all_nations WHERE r_name = 'EUROPE';

-- nations in the region Europe
SELECT n_nationkey FROM all_nations WHERE r_name = 'EUROPE';

-- Germany
SELECT n_nationkey FROM nation WHERE n_name = 'GERMANY';

-- nations of Asia
SELECT n_nationkey FROM all_nations WHERE r_name = 'ASIA';

-- nations with German customers
SELECT n_nationkey FROM all_customers WHERE n_name = 'GERMANY';

-- customers in Europe
SELECT c_custkey FROM all_customers WHERE r_name = 'EUROPE';

-- customers of European nations
SELECT c_custkey FROM all_customers WHERE r_name = 'EUROPE';

-- customers in Germany
SELECT c_custkey FROM all_customers WHERE n_name = 'GERMANY';

-- customers of the nation Germany
SELECT c_custkey FROM all_customers WHERE n_name = 'GERMANY';

-- customers in Germany or France
SELECT c_custkey FROM all_customers WHERE n_name IN ('GERMANY', 'FRANCE');

-- customers in Asia
SELECT c_custkey FROM all_customers WHERE r_name = 'ASIA';

-- customers outside Europe
SELECT c_custkey FROM all_customers WHERE r_name <> 'EUROPE';

-- builders
SELECT c_custkey FROM customer WHERE c_mktsegment = 'BUILDING';

-- builders in Europe, selected before
SELECT c_custkey FROM all_customers WHERE r_name = 'EUROPE' AND c_mktsegment = 'BUILDING';

-- builders in Europe, selected after
SELECT c_custkey FROM all_customers WHERE r_name = 'EUROPE' AND c_mktsegment = 'BUILDING';

-- customers with orders
SELECT o_custkey FROM orders;

-- customers with a number of orders
SELECT o_custkey FROM orders;

-- customers combined with numbers of orders
SELECT o_custkey FROM orders;

-- customers without orders
SELECT c_custkey FROM customer WHERE c_custkey NOT IN (SELECT o_custkey FROM orders);

-- customers with orders of 1995
SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1995;

-- customers with orders of January 1995
SELECT o_custkey FROM orders WHERE o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1995-01-31';

-- customers with orders of 1994 or 1995
SELECT o_custkey FROM orders WHERE year(o_orderdate) IN (1994, 1995);

-- Europeans with orders of 1995
SELECT o_custkey FROM all_orders WHERE r_name = 'EUROPE' AND year(o_orderdate) = 1995;

-- customers with European orders of 1995
SELECT o_custkey FROM all_orders WHERE r_name = 'EUROPE' AND year(o_orderdate) = 1995;

-- customers that orders name
SELECT o_custkey FROM orders;

-- customers with at least one order
SELECT o_custkey FROM orders;

-- customers with more than 10 orders
SELECT o_custkey FROM orders GROUP BY o_custkey HAVING count(*) > 10;

-- customers with more than 20 orders
SELECT o_custkey FROM orders GROUP BY o_custkey HAVING count(*) > 20;

-- customers with at most 10 orders
SELECT o_custkey FROM orders GROUP BY o_custkey HAVING count(*) <= 10;

-- Europeans with more than 20 orders, grouped before
SELECT o_custkey FROM all_orders WHERE r_name = 'EUROPE' GROUP BY o_custkey HAVING count(*) > 20;

-- Europeans with more than 20 orders, grouped after
SELECT o_custkey FROM all_orders WHERE r_name = 'EUROPE' GROUP BY o_custkey HAVING count(*) > 20;

-- customers with more than 5 orders of 1995
SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1995 GROUP BY o_custkey HAVING count(*) > 5;

-- orders of 1995
SELECT o_orderkey FROM orders WHERE year(o_orderdate) = 1995;

-- orders of Europeans of 1995
SELECT o_orderkey FROM all_orders WHERE r_name = 'EUROPE' AND year(o_orderdate) = 1995;

-- orders of Europeans of 1995, in other words
SELECT o_orderkey FROM all_orders WHERE r_name = 'EUROPE' AND year(o_orderdate) = 1995;

-- orders of Germans of 1995
SELECT o_orderkey FROM all_orders WHERE n_name = 'GERMANY' AND year(o_orderdate) = 1995;

-- orders of 1995 of customers of the nation Germany
SELECT o_orderkey FROM all_orders WHERE n_name = 'GERMANY' AND year(o_orderdate) = 1995;

-- orders of Germans and French of 1994 to 1996
SELECT o_orderkey FROM all_orders WHERE n_name IN ('GERMANY', 'FRANCE') AND year(o_orderdate) BETWEEN 1994 AND 1996;

-- orders of Asians of 1995
SELECT o_orderkey FROM all_orders WHERE r_name = 'ASIA' AND year(o_orderdate) = 1995;

-- orders of European builders
SELECT o_orderkey FROM all_orders WHERE r_name = 'EUROPE' AND c_mktsegment = 'BUILDING';

-- orders of 1995 of European builders
SELECT o_orderkey FROM all_orders WHERE r_name = 'EUROPE' AND c_mktsegment = 'BUILDING' AND year(o_orderdate) = 1995;

-- orders with late items
SELECT l_orderkey FROM lineitem WHERE l_receiptdate > l_commitdate;

-- orders with late items by air
SELECT l_orderkey FROM lineitem WHERE l_receiptdate > l_commitdate AND l_shipmode = 'AIR';

-- orders without late items
SELECT o_orderkey FROM orders WHERE o_orderkey NOT IN (SELECT l_orderkey FROM lineitem WHERE l_receiptdate > l_commitdate);

-- orders of 1995 with late items, selected before
SELECT l_orderkey FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE l_receiptdate > l_commitdate AND year(o_orderdate) = 1995;

-- orders of 1995 with late items, selected after
SELECT l_orderkey FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE l_receiptdate > l_commitdate AND year(o_orderdate) = 1995;

-- large orders
SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 200;

-- very large orders
SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) >= 250.5;

-- very large orders of Europeans of 1995
SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) >= 250.5 AND l_orderkey IN (SELECT o_orderkey FROM all_orders WHERE r_name = 'EUROPE' AND year(o_orderdate) = 1995);

-- latest order of each customer
SELECT max_by(o_orderkey, (o_orderdate, -o_orderkey)) FROM orders GROUP BY o_custkey;

-- two latest orders of each customer
SELECT o_orderkey FROM orders QUALIFY row_number() OVER (PARTITION BY o_custkey ORDER BY o_orderdate DESC, o_orderkey) <= 2;

-- latest order of each European, selected before
SELECT max_by(o_orderkey, (o_orderdate, -o_orderkey)) FROM all_orders WHERE r_name = 'EUROPE' GROUP BY o_custkey;

-- latest order of each European, selected after
SELECT max_by(o_orderkey, (o_orderdate, -o_orderkey)) FROM all_orders WHERE r_name = 'EUROPE' GROUP BY o_custkey;

-- items of Europeans of 1995
SELECT l_orderkey, l_linenumber FROM purchased_items WHERE r_name = 'EUROPE' AND year(o_orderdate) = 1995;

-- items of Europeans of 1995, selected after
SELECT l_orderkey, l_linenumber FROM purchased_items WHERE r_name = 'EUROPE' AND year(o_orderdate) = 1995;

-- items of Germans of 1995
SELECT l_orderkey, l_linenumber FROM purchased_items WHERE n_name = 'GERMANY' AND year(o_orderdate) = 1995;

-- items of German suppliers
SELECT l_orderkey, l_linenumber FROM supplied_items WHERE n_name = 'GERMANY';

-- items of European suppliers
SELECT l_orderkey, l_linenumber FROM supplied_items WHERE r_name = 'EUROPE';

-- late items
SELECT l_orderkey, l_linenumber FROM lineitem WHERE l_receiptdate > l_commitdate;

-- items of orders with late items
SELECT l_orderkey, l_linenumber FROM lineitem WHERE l_orderkey IN (SELECT l_orderkey FROM lineitem WHERE l_receiptdate > l_commitdate);

-- items in a group with late items
SELECT l_orderkey, l_linenumber FROM lineitem WHERE l_orderkey IN (SELECT l_orderkey FROM lineitem WHERE l_receiptdate > l_commitdate);

-- items of orders without late items
SELECT l_orderkey, l_linenumber FROM lineitem WHERE l_orderkey NOT IN (SELECT l_orderkey FROM lineitem WHERE l_receiptdate > l_commitdate);

-- items of small boxes
SELECT l_orderkey, l_linenumber FROM lineitem JOIN part ON l_partkey = p_partkey WHERE p_container = 'SM BOX';

-- items of small containers
SELECT l_orderkey, l_linenumber FROM lineitem JOIN part ON l_partkey = p_partkey WHERE p_container LIKE 'SM%';

-- items of small boxes, by their offers
SELECT l_orderkey, l_linenumber FROM lineitem JOIN part ON l_partkey = p_partkey WHERE p_container = 'SM BOX';

-- European offers
SELECT ps_partkey, ps_suppkey FROM all_offers WHERE r_name = 'EUROPE';

-- European offers of Brand#23
SELECT ps_partkey, ps_suppkey FROM all_offers WHERE r_name = 'EUROPE' AND p_brand = 'Brand#23';

-- offers that were ordered
SELECT l_partkey, l_suppkey FROM lineitem;

-- offers that were ordered in 1994
SELECT l_partkey, l_suppkey FROM lineitem WHERE year(l_shipdate) = 1994;

-- cheapest offers
SELECT ps_partkey, ps_suppkey FROM partsupp QUALIFY row_number() OVER (PARTITION BY ps_partkey ORDER BY ps_supplycost, ps_suppkey) = 1;

-- cheapest European offers
SELECT ps_partkey, ps_suppkey FROM all_offers WHERE r_name = 'EUROPE' QUALIFY row_number() OVER (PARTITION BY ps_partkey ORDER BY ps_supplycost, ps_suppkey) = 1;

-- cheapest offers of Brand#23
SELECT ps_partkey, ps_suppkey FROM all_offers WHERE p_brand = 'Brand#23' QUALIFY row_number() OVER (PARTITION BY ps_partkey ORDER BY ps_supplycost, ps_suppkey) = 1;

-- suppliers of forest parts
SELECT ps_suppkey FROM all_offers WHERE p_name LIKE 'forest%';

-- suppliers of some forest parts
SELECT ps_suppkey FROM all_offers WHERE p_name LIKE 'forest b%';

-- suppliers in Europe
SELECT s_suppkey FROM all_suppliers WHERE r_name = 'EUROPE';

-- suppliers with European offers
SELECT ps_suppkey FROM all_offers WHERE r_name = 'EUROPE';

-- suppliers in Europe with offers
SELECT ps_suppkey FROM all_offers WHERE r_name = 'EUROPE';

-- suppliers in Asia with offers
SELECT ps_suppkey FROM all_offers WHERE r_name = 'ASIA';

-- parts with European offers
SELECT ps_partkey FROM all_offers WHERE r_name = 'EUROPE';

-- parts with German offers
SELECT ps_partkey FROM all_offers WHERE n_name = 'GERMANY';

-- parts whose cheapest offer is European
SELECT ps_partkey FROM (SELECT * FROM partsupp QUALIFY row_number() OVER (PARTITION BY ps_partkey ORDER BY ps_supplycost, ps_suppkey) = 1) JOIN all_suppliers ON ps_suppkey = s_suppkey WHERE r_name = 'EUROPE';

-- parts without European offers
SELECT p_partkey FROM part WHERE p_partkey NOT IN (SELECT ps_partkey FROM all_offers WHERE r_name = 'EUROPE');
